// Tells the one who frees a shared structure whether a reader may still hold it.
//
// A reader writes its own thread's record, twice, and nothing else: no lock, no shared counter, no fence. The
// reclaimer pays instead: membarrier(2) makes every running thread of the process pass a full barrier, so that a reader
// is either seen in its record or sees the pointer that replaced the one to be freed. Where the kernel does not offer
// membarrier, readers run a full fence of their own, on the slow path that finds their record anew at each read.
//
// A record's counter is even outside a read and odd inside; a section that ended has changed the counter. Sections
// nest (a signal handler may read): the inner one finds the counter odd and leaves it so.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct reader_record {
  _Atomic(uint64_t) counter;
  _Atomic(uint32_t) owned;
  struct reader_record *_Nullable next;
  // One record a cache line, two lines where the processor fetches pairs: readers never share one.
  char padding[128 - 8 - 4 - 4 - 8];
} __attribute__((aligned(128)));

/// The calling thread's record; null before its first read, and always where readers must fence for themselves.
/// Initial-exec: a read costs no call into the loader.
extern _Thread_local struct reader_record *_Nullable reader_epoch_current __attribute__((tls_model("initial-exec")));

struct reader_section {
  struct reader_record *_Nonnull record;
  uint64_t counter;
};

/// Begins a read of a thread without a record, or with a fence.
struct reader_section reader_epoch_enter_slowly(void);

/// Begins a read. Pointers loaded before `reader_epoch_exit` stay valid until then.
static inline struct reader_section reader_epoch_enter(void) {
  struct reader_record *_Nullable record = reader_epoch_current;
  if (__builtin_expect(!record, 0)) return reader_epoch_enter_slowly();
  uint64_t counter = atomic_load_explicit(&record->counter, memory_order_relaxed);
  atomic_store_explicit(&record->counter, counter | 1, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  return (struct reader_section){record, counter};
}

static inline void reader_epoch_exit(struct reader_section section) {
  atomic_signal_fence(memory_order_seq_cst);
  uint64_t outermost = ~section.counter & 1;
  atomic_store_explicit(&section.record->counter, section.counter + (outermost << 1), memory_order_release);
}

/// Waits until every read that began before the call has ended.
///
/// Call it after the pointer to the old structure was replaced; what only the old pointer led to may then be freed.
/// Must not be called inside a read. One caller at a time.
/// - Returns: false when some reader did not end within about `tries` looks (its thread is not running, say), or the kernel
///   refused the barrier; nothing may be freed then.
bool reader_epoch_wait(unsigned tries);

/// For tests: how many records exist, and how many of them threads own.
void reader_epoch_count(unsigned *_Nonnull all, unsigned *_Nonnull owned);

/// For tests, before the first read of the process: readers fence for themselves, as without membarrier.
void reader_epoch_force_fences(void);
