// The limit: an open-addressing table in memory, a 64-bit wyhash of the key, memcmp to be sure.
//   hash-table KEYS
#include "timing.h"

struct slot {
  uint64_t hash;
  uint32_t key_offset;
  uint16_t key_length;
  uint8_t type, used;
  uint64_t value, padding;
};

static char *pool;
static struct slot *slots;
static uint32_t mask;

static inline uint64_t read8(const char *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline uint64_t read4(const char *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline uint64_t fold(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_key(const char *p, size_t n) {
  const uint64_t s0 = 0xa0761d6478bd642full, s1 = 0xe7037ed1a0b428dbull;
  uint64_t seed = s0, a = 0, b = 0;
  size_t i = n;
  if (n > 16) {
    for (; i > 16; i -= 16, p += 16) seed = fold(read8(p) ^ s1, read8(p + 8) ^ seed);
    a = read8(p + i - 16), b = read8(p + i - 8);
  } else if (n >= 8) {
    a = read8(p), b = read8(p + n - 8);
  } else if (n >= 4) {
    a = read4(p), b = read4(p + n - 4);
  } else if (n) {
    a = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n >> 1] << 8 | (uint8_t)p[n - 1];
  }
  return fold(s1 ^ n, fold(a ^ s1, b ^ seed));
}

static inline struct slot *find(const char *key, size_t length) {
  uint64_t hash = hash_key(key, length);
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    struct slot *slot = &slots[i];
    if (!slot->used) return NULL;
    if (slot->hash == hash && slot->key_length == length && !memcmp(pool + slot->key_offset, key, length)) return slot;
  }
}

static void build(int count) {
  uint32_t capacity = 1, offset = 0;
  while (capacity < 2u * count) capacity <<= 1;
  mask = capacity - 1;
  slots = calloc(capacity, sizeof *slots);
  pool = malloc((size_t)count * 160);
  for (int i = 0; i < count; i++) {
    char key[64];
    int length = snprintf(key, sizeof key, "SafeBrowsingPolicy.Key%06d", i);
    uint64_t hash = hash_key(key, length);
    uint32_t j = hash & mask;
    while (slots[j].used) j = (j + 1) & mask;
    slots[j] = (struct slot){hash, offset, length, i % 3, 1, i % 3 == 0 ? (i / 3) & 1 : i, 0};
    memcpy(pool + offset, key, length);
    offset += length;
  }
}

struct keys {
  char **text;
  int *length;
  int count;
};

static struct keys make_keys(int count, const char *format) {
  struct keys keys;
  int *order = shuffled_keys(count, -1, &keys.count);
  keys.text = malloc(sizeof *keys.text * keys.count);
  keys.length = malloc(sizeof *keys.length * keys.count);
  for (int i = 0; i < keys.count; i++) {
    char key[64];
    keys.length[i] = snprintf(key, sizeof key, format, order[i]);
    keys.text[i] = strdup(key);
  }
  return keys;
}

static uint64_t read_keys(void *context, long iterations) {
  struct keys *keys = context;
  uint64_t sum = 0;
  for (long i = 0, j = 0; i < iterations; i++) {
    struct slot *slot = find(keys->text[j], keys->length[j]);
    sum += slot ? slot->value : 0;
    if (++j == keys->count) j = 0;
  }
  return sum;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 10000;
  char name[128];
  build(count);
  struct keys hits = make_keys(count, "SafeBrowsingPolicy.Key%06d"), misses = make_keys(count, "SafeBrowsingPolicy.Nix%06d");
  snprintf(name, sizeof name, "C table, hit, %d keys,", count);
  enter(name, read_keys, &hits);
  snprintf(name, sizeof name, "C table, miss, %d keys,", count);
  enter(name, read_keys, &misses);
  run_contenders();
}
