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
  membarrier_query = 0,
  membarrier_private_expedited = 1 << 3,
  membarrier_register_private_expedited = 1 << 4,
};

_Thread_local struct reader_record *reader_epoch_current __attribute__((tls_model("initial-exec")));
// The record of a thread that fences for itself, so that `reader_epoch_current` can stay null.
static _Thread_local struct reader_record *fencing_record;

// Decided before the first read and never changed, so that no reader has to look at it on its fast path.
static bool readers_fence;
// Registering costs a multi-threaded process milliseconds, so it waits for the first reclamation.
static bool is_registered;

// Records are never freed, only handed on: the list is as long as the process ever had reading threads at once.
static _Atomic(struct reader_record *) all_records;
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }

static void return_record(void *pointer) {
  struct reader_record *record = pointer;
  reader_epoch_current = NULL;
  fencing_record = NULL;
  atomic_store_explicit(&record->owned, 0, memory_order_release);
}

// The child has one thread; the records of the others are free, whatever they were doing.
static void after_fork_in_child(void) {
  struct reader_record *mine = readers_fence ? fencing_record : reader_epoch_current;
  struct reader_record *record = atomic_load_explicit(&all_records, memory_order_acquire);
  for (; record; record = record->next) {
    if (record == mine) continue;
    uint64_t counter = atomic_load_explicit(&record->counter, memory_order_relaxed);
    atomic_store_explicit(&record->counter, (counter + 1) & ~(uint64_t)1, memory_order_relaxed);
    atomic_store_explicit(&record->owned, 0, memory_order_relaxed);
  }
  is_registered = false;
}

static void initialize(void) {
  pthread_key_create(&thread_end, return_record);
  pthread_atfork(NULL, NULL, after_fork_in_child);
  int commands = membarrier(membarrier_query);
  if (commands < 0 || !(commands & membarrier_private_expedited)) readers_fence = true;
}

static struct reader_record *adopt(void) {
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
  pthread_setspecific(thread_end, record);
  return record;
}

struct reader_section reader_epoch_enter_slowly(void) {
  pthread_once(&once, initialize);
  if (!readers_fence) {
    reader_epoch_current = adopt();
    return reader_epoch_enter();
  }
  if (!fencing_record) fencing_record = adopt();
  uint64_t counter = atomic_load_explicit(&fencing_record->counter, memory_order_relaxed);
  atomic_store_explicit(&fencing_record->counter, counter | 1, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  return (struct reader_section){fencing_record, counter};
}

bool reader_epoch_wait(unsigned tries) {
  pthread_once(&once, initialize);
  if (!readers_fence) {
    if (!is_registered) is_registered = membarrier(membarrier_register_private_expedited) == 0;
    // Refused although the query promised it: a filter of system calls came between. Nothing is freed then.
    if (!is_registered || membarrier(membarrier_private_expedited) != 0) return false;
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

void reader_epoch_force_fences(void) {
  pthread_once(&once, initialize);
  readers_fence = true;
}
