#ifndef TOTAL_H
#define TOTAL_H

typedef struct {
    long sum;
    int count;
} total_t;

void total_add(total_t *total, long value);
extern const char *const total_name;

#endif
