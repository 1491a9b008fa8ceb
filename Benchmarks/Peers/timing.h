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

enum { repetitions = 9 };

typedef uint64_t (*workload)(void *context, long iterations);

static volatile uint64_t result_sink;

static double now_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

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
  thread->work(thread->context, 8);
  pthread_barrier_wait(thread->barrier);
  getrusage(RUSAGE_THREAD, &before);
  thread->start = now_nanoseconds();
  result_sink += thread->work(thread->context, thread->iterations);
  thread->end = now_nanoseconds();
  getrusage(RUSAGE_THREAD, &after);
  thread->preemptions = after.ru_nivcsw - before.ru_nivcsw;
  return NULL;
}

// Nanoseconds of one operation: on one thread, then on each of two threads at once. A round in which a thread lost its
// core, or in which the two hardly overlapped, says nothing and is run again.
static inline void measure(const char *name, workload work, void *context, long iterations) {
  double values[repetitions];
  char label[256];
  result_sink += work(context, iterations / 4 + 1);
  for (int round = 0; round < repetitions; round++) {
    double start = now_nanoseconds();
    result_sink += work(context, iterations);
    values[round] = (now_nanoseconds() - start) / iterations;
  }
  snprintf(label, sizeof label, "%s 1 thread", name);
  report(label, values, repetitions, "ns");

  long pair_iterations = (long)(4e6 / values[repetitions / 2]) + 1;
  int kept = 0;
  for (int attempt = 0; attempt < 100 && kept < repetitions; attempt++) {
    pthread_barrier_t barrier;
    pthread_t handles[2];
    struct timed_thread threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
      threads[i] = (struct timed_thread){work, context, pair_iterations, &barrier, 0, 0, 0};
      pthread_create(&handles[i], NULL, run_timed_thread, &threads[i]);
    }
    for (int i = 0; i < 2; i++) pthread_join(handles[i], NULL);
    double lengths[2] = {threads[0].end - threads[0].start, threads[1].end - threads[1].start};
    double longest = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
    double start = threads[0].start > threads[1].start ? threads[0].start : threads[1].start;
    double end = threads[0].end < threads[1].end ? threads[0].end : threads[1].end;
    if (threads[0].preemptions || threads[1].preemptions || end - start < 0.85 * longest) continue;
    values[kept++] = longest / pair_iterations;
  }
  if (kept < 3) return;
  snprintf(label, sizeof label, "%s 2 threads", name);
  report(label, values, kept, "ns");
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
