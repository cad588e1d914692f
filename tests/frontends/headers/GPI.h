/* Declarations of GPI (the older API of the Fraunhofer ITWM), for checking with a compiler that programs are C. */
#ifndef GPI_H
#define GPI_H

enum gpi_queue { GPIQueue0, GPIQueue1, GPIQueue2, GPIQueue3, GPIQueue4, GPIQueue5, GPIQueue6, GPIQueue7 };
enum gpi_counter {
  GPICounter0, GPICounter1, GPICounter2, GPICounter3, GPICounter4, GPICounter5, GPICounter6, GPICounter7
};
typedef enum { GPI_MIN, GPI_MAX, GPI_SUM } GPI_OP;
typedef enum { GPI_INT, GPI_UINT, GPI_FLOAT, GPI_DOUBLE, GPI_LONG, GPI_ULONG } GPI_TYPE;

int startGPI(int argc, char *argv[], const char *cmdline, const unsigned long memory);
void shutdownGPI(void);
int getRankGPI(void);
int getNodeCountGPI(void);
void *getDmaMemPtrGPI(void);
void barrierGPI(void);
int readDmaGPI(const unsigned long local, const unsigned long remote, const int size, const unsigned int rank,
               const unsigned int queue);
int writeDmaGPI(const unsigned long local, const unsigned long remote, const int size, const unsigned int rank,
                const unsigned int queue);
int waitDmaGPI(const unsigned int queue);
int allReduceGPI(void *send, void *receive, const unsigned char count, GPI_OP op, GPI_TYPE type);
unsigned long atomicFetchAddCntGPI(const unsigned long value, const unsigned int counter);
unsigned long atomicCmpSwapCntGPI(const unsigned long expected, const unsigned long value, const unsigned int counter);
int atomicResetCntGPI(const unsigned int counter);
int globalResourceLockGPI(void);
int globalResourceUnlockGPI(void);
void gpi_printf(const char *format, ...);

#endif
