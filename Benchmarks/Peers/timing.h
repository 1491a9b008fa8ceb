// Timing shared by the peers written in C. A line of output is: name, median, unit, minimum, maximum, between tabs.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

// Each workload is timed in so many short bursts, in turn with the others of its program.
enum { bursts = 9 };
static const double burst_nanoseconds = 4e6;

typedef uint64_t (*workload)(void *context, long iterations);

static volatile uint64_t result_sink;

static inline double read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static inline double now_nanoseconds(void) { return read_clock(CLOCK_MONOTONIC); }

// What this process has had of the processors, its kernel's work for it included.
static inline double processor_nanoseconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void report(const char *name, double *values, int count, const char *unit) {
  qsort(values, count, sizeof *values, compare_doubles);
  printf("%s\t%.2f\t%s\t%.2f\t%.2f\n", name, values[count / 2], unit, values[0], values[count - 1]);
  fflush(stdout);
}

struct timed_thread {
  workload work;
  void *context;
  long iterations;
  pthread_barrier_t *barrier;
  double start, end;
  long preemptions;
};

static void *run_timed_thread(void *argument) {
  struct timed_thread *thread = argument;
  struct rusage before, after;
  thread->work(thread->context, thread->iterations / 8 + 1);
  pthread_barrier_wait(thread->barrier);
  getrusage(RUSAGE_THREAD, &before);
  thread->start = now_nanoseconds();
  result_sink += thread->work(thread->context, thread->iterations);
  thread->end = now_nanoseconds();
  getrusage(RUSAGE_THREAD, &after);
  thread->preemptions = after.ru_nivcsw - before.ru_nivcsw;
  return NULL;
}

struct contender {
  char name[160];
  workload work;
  void *context;
  long iterations;
  double alone[bursts], paired[bursts];
  int pairs;
};

static struct contender contenders[16];
static int contender_count;

// Enters a workload for `run_contenders`.
static inline void enter(const char *name, workload work, void *context) {
  struct contender *contender = &contenders[contender_count++];
  *contender = (struct contender){.work = work, .context = context};
  snprintf(contender->name, sizeof contender->name, "%s", name);
}

// One burst on two threads at once. A burst in which a thread lost its core, or in which the two hardly overlapped, says
// nothing and does not count.
static inline void run_pair(struct contender *contender) {
  pthread_barrier_t barrier;
  pthread_t handles[2];
  struct timed_thread threads[2];
  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < 2; i++) {
    threads[i] = (struct timed_thread){contender->work, contender->context, contender->iterations, &barrier, 0, 0, 0};
    pthread_create(&handles[i], NULL, run_timed_thread, &threads[i]);
  }
  for (int i = 0; i < 2; i++) pthread_join(handles[i], NULL);
  double lengths[2] = {threads[0].end - threads[0].start, threads[1].end - threads[1].start};
  double longest = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
  double start = threads[0].start > threads[1].start ? threads[0].start : threads[1].start;
  double end = threads[0].end < threads[1].end ? threads[0].end : threads[1].end;
  if (threads[0].preemptions || threads[1].preemptions || end - start < 0.85 * longest) return;
  contender->paired[contender->pairs++] = longest / contender->iterations;
}

// Nanoseconds of one operation of each workload: on one thread, then on each of two threads at once. The workloads take
// turns, burst by burst, so that what disturbs the machine for a while disturbs them alike.
static inline void run_contenders(void) {
  struct contender *end = contenders + contender_count;
  for (struct contender *c = contenders; c < end; c++) {
    double start, length;
    c->iterations = 64;
    do {
      c->iterations *= 2;
      start = now_nanoseconds();
      result_sink += c->work(c->context, c->iterations);
      length = now_nanoseconds() - start;
    } while (length < burst_nanoseconds / 8);
    c->iterations = (long)(c->iterations * (burst_nanoseconds / length)) + 1;
  }
  for (int burst = 0; burst < bursts; burst++)
    for (struct contender *c = contenders; c < end; c++) {
      // What the others put into the caches is not this one's cost.
      result_sink += c->work(c->context, c->iterations / 4 + 1);
      double start = now_nanoseconds();
      result_sink += c->work(c->context, c->iterations);
      c->alone[burst] = (now_nanoseconds() - start) / c->iterations;
    }
  for (int attempt = 0; attempt < 4 * bursts; attempt++)
    for (struct contender *c = contenders; c < end; c++)
      if (c->pairs < bursts) run_pair(c);
  for (struct contender *c = contenders; c < end; c++) {
    char label[200];
    snprintf(label, sizeof label, "%s 1 thread", c->name);
    report(label, c->alone, bursts, "ns");
    if (c->pairs < 3) continue;
    snprintf(label, sizeof label, "%s 2 threads", c->name);
    report(label, c->paired, c->pairs, "ns");
  }
}

// The keys 0 … count−1 in an order that is shuffled and always the same; `kind` 0 booleans, 1 integers, 2 strings, -1 all.
static inline int *shuffled_keys(int count, int kind, int *selected) {
  int *order = malloc(count * sizeof *order), n = 0;
  for (int i = 0; i < count; i++)
    if (kind < 0 || i % 3 == kind) order[n++] = i;
  uint64_t state = 88172645463325252ull;
  for (int i = n - 1; i > 0; i--) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    int j = (int)(state % (uint64_t)(i + 1)), swapped = order[i];
    order[i] = order[j], order[j] = swapped;
  }
  *selected = n;
  return order;
}
