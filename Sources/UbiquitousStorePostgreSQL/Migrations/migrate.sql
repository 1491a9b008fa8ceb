-- Brings the synced store's schema in one database up to the newest version that this folder knows, or makes it.
--
--   psql --dbname DATABASE --file migrate.sql
--
-- Run it as a superuser, in a database of the store's own with the encoding UTF8. All of it is one transaction: it is done or
-- nothing is. Two at once wait for each other. A second run changes nothing; a schema that is newer than this folder is left
-- alone, with an error. Then give each user a role of her own (Documentation/ubiquitous-store-postgresql.md).

\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
BEGIN;
SET LOCAL search_path = pg_catalog;
-- Any session may hold an advisory lock; then this says so instead of waiting for ever.
SET LOCAL lock_timeout = '30s';
SELECT pg_advisory_xact_lock(7596553794478270836) \g /dev/null

SELECT CASE WHEN to_regclass('ubiquitous_store.schema_version') IS NULL THEN 'SELECT 0'
  ELSE 'SELECT version FROM ubiquitous_store.schema_version' END AS question \gset
:question AS version \gset
SELECT :version < 1 AS wants_1, :version > 1 AS is_newer \gset

\if :is_newer
  DO $$ BEGIN RAISE EXCEPTION 'this schema is newer than these migrations'
    USING HINT = 'Run migrate.sql of the newest version that any machine of yours has.'; END $$;
\endif

\if :wants_1
  \ir 0001-records.sql
  INSERT INTO ubiquitous_store.schema_version (version, oldest_client) VALUES (1, 1);
\endif

COMMIT;
SELECT 'ubiquitous_store: schema version ' || version FROM ubiquitous_store.schema_version \g (format=unaligned tuples_only=on)
