#define _GNU_SOURCE
#include "reader_epoch.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// From linux/membarrier.h, which old kernel headers lack.
enum {
  membarrier_private_expedited = 1 << 3,
  membarrier_register_private_expedited = 1 << 4,
};

_Thread_local struct reader_record *reader_epoch_current __attribute__((tls_model("initial-exec")));
_Atomic(bool) reader_epoch_fences;

// Records are never freed, only handed on: the list is as long as the process ever had reading threads at once.
static _Atomic(struct reader_record *) all_records;
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }

static void return_record(void *pointer) {
  struct reader_record *record = pointer;
  reader_epoch_current = NULL;
  atomic_store_explicit(&record->owned, 0, memory_order_release);
}

static void register_process(void) {
  // Readers of other threads look at the flag without order, so it is only ever set, and in a child that has one thread.
  if (membarrier(membarrier_register_private_expedited) != 0) atomic_store(&reader_epoch_fences, true);
}

// The child has one thread; the records of the others are free, whatever they were doing.
static void after_fork_in_child(void) {
  struct reader_record *record = atomic_load_explicit(&all_records, memory_order_acquire);
  for (; record; record = record->next) {
    if (record == reader_epoch_current) continue;
    uint64_t counter = atomic_load_explicit(&record->counter, memory_order_relaxed);
    atomic_store_explicit(&record->counter, (counter + 1) & ~(uint64_t)1, memory_order_relaxed);
    atomic_store_explicit(&record->owned, 0, memory_order_relaxed);
  }
  register_process();
}

static void initialize(void) {
  pthread_key_create(&thread_end, return_record);
  pthread_atfork(NULL, NULL, after_fork_in_child);
  register_process();
}

struct reader_record *reader_epoch_adopt(void) {
  pthread_once(&once, initialize);
  struct reader_record *record = atomic_load_explicit(&all_records, memory_order_acquire);
  for (; record; record = record->next) {
    uint32_t free = 0;
    if (atomic_compare_exchange_strong_explicit(
            &record->owned, &free, 1, memory_order_acq_rel, memory_order_relaxed))
      break;
  }
  if (!record) {
    if (posix_memalign((void **)&record, sizeof *record, sizeof *record) != 0) abort();
    memset(record, 0, sizeof *record);
    atomic_store_explicit(&record->owned, 1, memory_order_relaxed);
    struct reader_record *head = atomic_load_explicit(&all_records, memory_order_relaxed);
    do {
      record->next = head;
    } while (!atomic_compare_exchange_weak_explicit(
        &all_records, &head, record, memory_order_acq_rel, memory_order_relaxed));
  }
  reader_epoch_current = record;
  pthread_setspecific(thread_end, record);
  return record;
}

bool reader_epoch_wait(unsigned tries) {
  pthread_once(&once, initialize);
  if (!reader_epoch_fences && membarrier(membarrier_private_expedited) != 0) {
    // Registered, and yet refused: a filter of system calls came later. Readers begin to fence now; what is retired
    // today waits for the next look, when every read in progress will have begun with the fence.
    atomic_store(&reader_epoch_fences, true);
    return false;
  }
  atomic_thread_fence(memory_order_seq_cst);
  struct reader_record *record = atomic_load_explicit(&all_records, memory_order_acquire);
  for (; record; record = record->next) {
    uint64_t seen = atomic_load_explicit(&record->counter, memory_order_acquire);
    if (!(seen & 1)) continue;
    unsigned left = tries;
    while (atomic_load_explicit(&record->counter, memory_order_acquire) == seen) {
      if (left-- == 0) return false;
      sched_yield();
    }
  }
  return true;
}

void reader_epoch_count(unsigned *all, unsigned *owned) {
  *all = *owned = 0;
  struct reader_record *record = atomic_load_explicit(&all_records, memory_order_acquire);
  for (; record; record = record->next) {
    ++*all;
    *owned += atomic_load_explicit(&record->owned, memory_order_relaxed);
  }
}

void reader_epoch_force_fences(void) { atomic_store(&reader_epoch_fences, true); }
