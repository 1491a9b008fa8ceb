// What we use of OpenSSL 3's libcrypto, found at run time.
//
// The commands that only read policy never load it: it is 1–2 ms of every launch when it is a shared library of the
// program, and nearly half of the program's relocations when it is linked in. The declarations are those of OpenSSL's
// manual pages, so that building needs no headers of it.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;

// The number of Ed25519 (NID_ED25519), and flags of OPENSSL_init_crypto.
static const int LIBCRYPTO_ED25519 = 1087;
static const uint64_t LIBCRYPTO_NO_LOAD_CONFIG = 0x80, LIBCRYPTO_NO_ATEXIT = 0x80000;

// SHA256_CTX has 112 since the first of them.
static const size_t SHA256_CONTEXT_BYTES = 128;

struct libcrypto_functions {
  int (*_Nonnull OPENSSL_init_crypto)(uint64_t flags, const void *_Nullable settings);

  EVP_MD_CTX *_Nullable (*_Nonnull EVP_MD_CTX_new)(void);
  void (*_Nonnull EVP_MD_CTX_free)(EVP_MD_CTX *_Nullable context);
  const EVP_MD *_Nullable (*_Nonnull EVP_sha256)(void);
  int (*_Nonnull EVP_DigestInit_ex)(
      EVP_MD_CTX *_Nonnull context, const EVP_MD *_Nullable digest, void *_Nullable engine);
  int (*_Nonnull EVP_DigestUpdate)(EVP_MD_CTX *_Nonnull context, const void *_Nullable bytes, size_t count);
  int (*_Nonnull EVP_DigestFinal_ex)(
      EVP_MD_CTX *_Nonnull context, unsigned char *_Nullable digest, unsigned *_Nullable count);

  // SHA-256 alone, over a context of SHA256_CONTEXT_BYTES. OpenSSL 3 calls them deprecated, and builds may leave them out;
  // NULL then.
  int (*_Nullable SHA256_Init)(void *_Nonnull context);
  int (*_Nullable SHA256_Update)(void *_Nonnull context, const void *_Nullable bytes, size_t count);
  int (*_Nullable SHA256_Final)(unsigned char *_Nonnull digest, void *_Nonnull context);

  EVP_PKEY_CTX *_Nullable (*_Nonnull EVP_PKEY_CTX_new_id)(int id, void *_Nullable engine);
  void (*_Nonnull EVP_PKEY_CTX_free)(EVP_PKEY_CTX *_Nullable context);
  int (*_Nonnull EVP_PKEY_keygen_init)(EVP_PKEY_CTX *_Nonnull context);
  int (*_Nonnull EVP_PKEY_keygen)(EVP_PKEY_CTX *_Nonnull context, EVP_PKEY *_Nullable *_Nonnull key);
  EVP_PKEY *_Nullable (*_Nonnull EVP_PKEY_new_raw_private_key)(
      int type, void *_Nullable engine, const unsigned char *_Nonnull key, size_t count);
  EVP_PKEY *_Nullable (*_Nonnull EVP_PKEY_new_raw_public_key)(
      int type, void *_Nullable engine, const unsigned char *_Nonnull key, size_t count);
  int (*_Nonnull EVP_PKEY_get_raw_private_key)(
      const EVP_PKEY *_Nonnull key, unsigned char *_Nullable bytes, size_t *_Nonnull count);
  int (*_Nonnull EVP_PKEY_get_raw_public_key)(
      const EVP_PKEY *_Nonnull key, unsigned char *_Nullable bytes, size_t *_Nonnull count);
  void (*_Nonnull EVP_PKEY_free)(EVP_PKEY *_Nullable key);

  int (*_Nonnull EVP_DigestSignInit)(
      EVP_MD_CTX *_Nonnull context, EVP_PKEY_CTX *_Nullable *_Nullable made, const EVP_MD *_Nullable digest,
      void *_Nullable engine, EVP_PKEY *_Nonnull key);
  int (*_Nonnull EVP_DigestSign)(
      EVP_MD_CTX *_Nonnull context, unsigned char *_Nullable signature, size_t *_Nonnull signature_count,
      const unsigned char *_Nullable message, size_t count);
  int (*_Nonnull EVP_DigestVerifyInit)(
      EVP_MD_CTX *_Nonnull context, EVP_PKEY_CTX *_Nullable *_Nullable made, const EVP_MD *_Nullable digest,
      void *_Nullable engine, EVP_PKEY *_Nonnull key);
  int (*_Nonnull EVP_DigestVerify)(
      EVP_MD_CTX *_Nonnull context, const unsigned char *_Nonnull signature, size_t signature_count,
      const unsigned char *_Nullable message, size_t count);
};

/// Loads libcrypto and fills the table; once it is loaded, it stays.
///
/// @param table left alone where it can't be loaded.
/// @return NULL, or why it can't.
const char *_Nullable libcrypto_load(struct libcrypto_functions *_Nonnull table);
