#include "total.h"

const char *const total_name = "total";
static int count;

static void sent(long value) {
    count += value != 0;
}

void total_add(total_t *total, long value) {
    total->sum += SCALE * value;
    sent(value);
    total->count = count;
}
