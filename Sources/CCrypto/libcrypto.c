#include "libcrypto.h"

#include <dlfcn.h>

const char *libcrypto_load(struct libcrypto_functions *table) {
  void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  struct libcrypto_functions found;
#define FIND(name) \
  if (!(found.name = (__typeof__(found.name))dlsym(library, #name))) return dlerror()
  FIND(OPENSSL_init_crypto);
  FIND(EVP_MD_CTX_new);
  FIND(EVP_MD_CTX_free);
  FIND(EVP_sha256);
  FIND(EVP_DigestInit_ex);
  FIND(EVP_DigestUpdate);
  FIND(EVP_DigestFinal_ex);
  found.SHA256_Init = (__typeof__(found.SHA256_Init))dlsym(library, "SHA256_Init");
  found.SHA256_Update = (__typeof__(found.SHA256_Update))dlsym(library, "SHA256_Update");
  found.SHA256_Final = (__typeof__(found.SHA256_Final))dlsym(library, "SHA256_Final");
  FIND(EVP_PKEY_CTX_new_id);
  FIND(EVP_PKEY_CTX_free);
  FIND(EVP_PKEY_keygen_init);
  FIND(EVP_PKEY_keygen);
  FIND(EVP_PKEY_new_raw_private_key);
  FIND(EVP_PKEY_new_raw_public_key);
  FIND(EVP_PKEY_get_raw_private_key);
  FIND(EVP_PKEY_get_raw_public_key);
  FIND(EVP_PKEY_free);
  FIND(EVP_DigestSignInit);
  FIND(EVP_DigestSign);
  FIND(EVP_DigestVerifyInit);
  FIND(EVP_DigestVerify);
#undef FIND
  *table = found;
  return 0;
}
