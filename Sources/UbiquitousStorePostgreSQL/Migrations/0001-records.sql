-- Version 1 of the schema: accounts, records, and who may do what. Run by migrate.sql, in its transaction.
--
-- An account is a database role: whoever logs in as `ada` reads and writes the records of `ada`, and no others, whatever SQL she
-- sends. Three things hold that: rights on single columns (she can't name the account or the sequence number of a record, delete
-- one, or lock a table), row-level security by the role that logged in (`session_user`, which SET ROLE does not change), and a
-- trigger that gives each change its number and refuses what no device of hers may send.

DO $$
BEGIN
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'the database has the encoding %, and the store needs UTF8', current_setting('server_encoding')
      USING HINT = 'createdb --encoding UTF8 --template template0 NAME';
  END IF;
  -- Owns the tables and has no other right: what runs with an owner's rights here is no superuser.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ubiquitous_store_owner') THEN
    CREATE ROLE ubiquitous_store_owner NOLOGIN NOINHERIT;
  END IF;
  -- Whose members have an account: GRANT ubiquitous_store_user TO ada.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ubiquitous_store_user') THEN
    CREATE ROLE ubiquitous_store_user NOLOGIN;
  END IF;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO ubiquitous_store_user', current_database());
  -- A device that hangs in the middle of a change keeps its user's other devices waiting no longer than this.
  EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = ''30s''', current_database());
  EXECUTE format('ALTER DATABASE %I SET tcp_keepalives_idle = 30', current_database());
  EXECUTE format('ALTER DATABASE %I SET tcp_keepalives_interval = 5', current_database());
  EXECUTE format('ALTER DATABASE %I SET tcp_keepalives_count = 4', current_database());
END $$;

-- Large objects lie in no table of the store's, so none of its limits holds for them.
DO $$
DECLARE
  function regprocedure;
BEGIN
  FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^(lo_.*|loread|lowrite)$' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
  END LOOP;
END $$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA ubiquitous_store AUTHORIZATION ubiquitous_store_owner;
GRANT USAGE ON SCHEMA ubiquitous_store TO ubiquitous_store_user;
SET LOCAL ROLE ubiquitous_store_owner;

-- Which version of the schema this is, and the oldest version of the library that can work with it.
CREATE TABLE ubiquitous_store.schema_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version integer NOT NULL,
  oldest_client integer NOT NULL
);

CREATE TABLE ubiquitous_store.accounts (
  account name PRIMARY KEY,
  -- Another one tells devices that their place in the numbers means nothing any more: the server was restored from a back-up.
  incarnation uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Of this the names of channels are made: PostgreSQL lets everybody listen to every channel whose name she knows.
  channel_secret uuid NOT NULL DEFAULT gen_random_uuid()
);

-- One row for each application of an account.
CREATE TABLE ubiquitous_store.stores (
  account name NOT NULL REFERENCES ubiquitous_store.accounts ON DELETE CASCADE,
  -- Names and keys are bytes of UTF-8: no collation decides what is one key.
  store bytea NOT NULL CONSTRAINT store_name_length CHECK (octet_length(store) BETWEEN 1 AND 255)
    CONSTRAINT store_name_text CHECK (convert_from(store, 'UTF8') IS NOT NULL),
  -- The number of the last change. A change holds this row until it is committed: so changes of a store become visible in the
  -- order of their numbers, and who has seen up to n misses nothing of what comes by asking for more than n.
  last_sequence bigint NOT NULL DEFAULT 0,
  record_count bigint NOT NULL DEFAULT 0,
  tombstone_count bigint NOT NULL DEFAULT 0,
  value_bytes bigint NOT NULL DEFAULT 0,
  -- Of the tombstones that were collected: the last one's number, and the greatest stamp.
  floor_sequence bigint NOT NULL DEFAULT 0,
  floor_milliseconds bigint,
  floor_counter integer,
  floor_device uuid,
  collected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account, store)
);

CREATE TABLE ubiquitous_store.records (
  account name NOT NULL DEFAULT session_user,
  store bytea NOT NULL,
  key bytea NOT NULL CONSTRAINT key_length CHECK (octet_length(key) BETWEEN 1 AND 64)
    CONSTRAINT key_text CHECK (convert_from(key, 'UTF8') IS NOT NULL),
  -- A binary property list; null is a tombstone: the key was removed.
  value bytea CONSTRAINT value_length CHECK (octet_length(value) <= 1048576),
  -- The stamp of the hybrid logical clock: milliseconds since 1970, a counter within them, and the device, which breaks ties.
  milliseconds bigint NOT NULL CONSTRAINT milliseconds_range CHECK (milliseconds BETWEEN 0 AND 9007199254740992),
  counter integer NOT NULL CONSTRAINT counter_range CHECK (counter >= 0),
  device uuid NOT NULL,
  sequence bigint NOT NULL,
  taken_at timestamptz NOT NULL,
  -- Without a foreign key to its store, which the trigger sees to anyway: checking it costs as much as the row.
  PRIMARY KEY (account, store, key)
);
CREATE INDEX records_in_order ON ubiquitous_store.records (account, store, sequence);
CREATE INDEX tombstones_by_age ON ubiquitous_store.records (account, store, taken_at) WHERE value IS NULL;
-- Values are property lists: compressing them costs more than it saves.
ALTER TABLE ubiquitous_store.records ALTER COLUMN value SET STORAGE EXTERNAL;
-- Rows that are rewritten again and again, with room for it where they stand.
ALTER TABLE ubiquitous_store.stores SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ubiquitous_store.records SET (fillfactor = 80);

-- The greatest milliseconds that a stamp may have now: five minutes ahead of the server's clock.
CREATE FUNCTION ubiquitous_store.latest_milliseconds() RETURNS bigint
  LANGUAGE sql VOLATILE SECURITY INVOKER
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 300000;

-- The channel of one store's hints, which only the account itself can work out.
CREATE FUNCTION ubiquitous_store.channel(secret uuid, store bytea) RETURNS text
  LANGUAGE sql IMMUTABLE SECURITY INVOKER
  RETURN 'us_' || substr(encode(sha256(uuid_send(secret) || store), 'hex'), 1, 32);

-- Collects a store's tombstones of 90 days, and the older half of more than 4,096 whatever their age. Who reads on from below the
-- floor gets the whole contents.
CREATE FUNCTION ubiquitous_store.collect_tombstones(of_store bytea) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  oldest_kept timestamptz := clock_timestamp() - interval '90 days';
BEGIN
  SELECT greatest(oldest_kept, (SELECT taken_at FROM ubiquitous_store.records r
      WHERE r.account = session_user AND r.store = of_store AND r.value IS NULL
      ORDER BY taken_at OFFSET s.tombstone_count / 2 LIMIT 1))
    INTO oldest_kept
    FROM ubiquitous_store.stores s WHERE s.account = session_user AND s.store = of_store AND s.tombstone_count > 4096;
  oldest_kept := coalesce(oldest_kept, clock_timestamp() - interval '90 days');
  WITH collected AS (
    DELETE FROM ubiquitous_store.records
      WHERE account = session_user AND store = of_store AND value IS NULL AND taken_at < oldest_kept
      RETURNING sequence, milliseconds, counter, device
  ), greatest_stamp AS (
    SELECT milliseconds, counter, device FROM (
      SELECT milliseconds, counter, device FROM collected
      UNION ALL SELECT floor_milliseconds, floor_counter, floor_device FROM ubiquitous_store.stores
        WHERE account = session_user AND store = of_store AND floor_milliseconds IS NOT NULL) both_kinds
    ORDER BY milliseconds DESC, counter DESC, device DESC LIMIT 1
  )
  UPDATE ubiquitous_store.stores s SET collected_at = clock_timestamp(),
      floor_sequence = greatest(s.floor_sequence, (SELECT max(sequence) FROM collected)),
      record_count = s.record_count - (SELECT count(*) FROM collected),
      tombstone_count = s.tombstone_count - (SELECT count(*) FROM collected),
      (floor_milliseconds, floor_counter, floor_device) = (SELECT milliseconds, counter, device FROM greatest_stamp)
    WHERE s.account = session_user AND s.store = of_store;
END $$;

-- The law of a change, whatever statement it comes from:
-- 1. It is of the account that logged in.
-- 2. Its stamp is at most five minutes ahead of the server's clock: SQLSTATE US001 otherwise. One device with a wrong clock would
--    else win against all others until their clocks have come that far.
-- 3. Against a record that stands only a greater stamp wins; an equal or smaller one changes nothing, so a change may be sent twice.
-- 4. It gets the store's next number. Changes of one transaction have one number, since they are seen at once.
-- 5. A store has at most 8,192 records and 16 MiB of values, an account 256 stores: SQLSTATE US002 otherwise. What removes or
--    shortens is taken all the same.
-- 6. The account's other devices are woken when it is committed. The hint has no contents.
--
-- `number_change` sees to 1 to 4, `count_changes` to 5 and 6 once for each statement. Both have the owner's rights, since the counter
-- is not the user's to move.
CREATE FUNCTION ubiquitous_store.number_change() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  has_number boolean;
BEGIN
  IF NEW.account IS DISTINCT FROM session_user THEN
    RAISE EXCEPTION 'a record of another account' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.milliseconds > ubiquitous_store.latest_milliseconds() THEN
    RAISE EXCEPTION 'the clock is more than five minutes ahead of the server''s' USING ERRCODE = 'US001',
      HINT = 'Set the device''s clock, best by NTP.';
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.account, NEW.store, NEW.key) IS DISTINCT FROM (OLD.account, OLD.store, OLD.key) THEN
      RAISE EXCEPTION 'a record keeps its name' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF (NEW.milliseconds, NEW.counter, NEW.device) <= (OLD.milliseconds, OLD.counter, OLD.device) THEN
      RETURN NULL;
    END IF;
  END IF;
  -- All changes of a store come one after the other from here on. Where this transaction wrote the row, it has its number already.
  SELECT last_sequence, xmin = pg_current_xact_id()::xid INTO NEW.sequence, has_number FROM ubiquitous_store.stores
    WHERE account = session_user AND store = NEW.store FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    PERFORM FROM ubiquitous_store.accounts WHERE account = session_user FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no account %', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO ubiquitous_store.stores (account, store) VALUES (session_user, NEW.store) ON CONFLICT DO NOTHING;
    IF (SELECT count(*) FROM ubiquitous_store.stores WHERE account = session_user) > 256 THEN
      RAISE EXCEPTION 'the account % has 256 stores, and no more are kept', session_user USING ERRCODE = 'US002';
    END IF;
    has_number := false;
  ELSIF TG_OP = 'INSERT' AND EXISTS (SELECT FROM ubiquitous_store.records
    WHERE account = session_user AND store = NEW.store AND key = NEW.key) THEN
    -- An update follows, or an error: what is there stays there while the store is held.
    NEW.taken_at := clock_timestamp();
    RETURN NEW;
  END IF;
  IF NOT has_number THEN
    UPDATE ubiquitous_store.stores SET last_sequence = last_sequence + 1
      WHERE account = session_user AND store = NEW.store RETURNING last_sequence INTO NEW.sequence;
  END IF;
  NEW.taken_at := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER number_change BEFORE INSERT OR UPDATE ON ubiquitous_store.records
  FOR EACH ROW EXECUTE FUNCTION ubiquitous_store.number_change();

-- With the rights of its callers, which are the two functions below.
CREATE FUNCTION ubiquitous_store.count_changes(of_store bytea, records bigint, tombstones bigint, bytes bigint) RETURNS void
  LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  standing ubiquitous_store.stores;
BEGIN
  UPDATE ubiquitous_store.stores SET record_count = record_count + records, tombstone_count = tombstone_count + tombstones,
      value_bytes = value_bytes + bytes
    WHERE account = session_user AND store = of_store RETURNING * INTO standing;
  IF records > 0 AND standing.record_count > 8192 OR bytes > 0 AND standing.value_bytes > 16777216 THEN
    RAISE EXCEPTION 'the store has % records and % bytes, and at most 8192 and 16777216 are kept',
      standing.record_count, standing.value_bytes USING ERRCODE = 'US002', HINT = 'Remove keys.';
  END IF;
  IF standing.collected_at < clock_timestamp() - interval '1 hour' OR standing.tombstone_count > 4096 THEN
    PERFORM ubiquitous_store.collect_tombstones(of_store);
  END IF;
  PERFORM pg_notify(ubiquitous_store.channel(channel_secret, of_store), '')
    FROM ubiquitous_store.accounts WHERE account = session_user;
END $$;

CREATE FUNCTION ubiquitous_store.count_inserts() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT store, count(*) AS records, count(*) FILTER (WHERE value IS NULL) AS tombstones,
      coalesce(sum(octet_length(value)), 0) AS bytes
    FROM new_records GROUP BY store
  LOOP
    PERFORM ubiquitous_store.count_changes(added.store, added.records, added.tombstones, added.bytes);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER count_inserts AFTER INSERT ON ubiquitous_store.records REFERENCING NEW TABLE AS new_records
  FOR EACH STATEMENT EXECUTE FUNCTION ubiquitous_store.count_inserts();
CREATE FUNCTION ubiquitous_store.count_updates() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  added record;
BEGIN
  FOR added IN
    SELECT store, 0::bigint AS records, sum(tombstone)::bigint AS tombstones, sum(length)::bigint AS bytes FROM (
      SELECT store, CASE WHEN value IS NULL THEN 1 ELSE 0 END AS tombstone, coalesce(octet_length(value), 0) AS length
        FROM new_records
      UNION ALL
      SELECT store, CASE WHEN value IS NULL THEN -1 ELSE 0 END, -coalesce(octet_length(value), 0) FROM old_records) AS both_sides
    GROUP BY store
  LOOP
    PERFORM ubiquitous_store.count_changes(added.store, added.records, added.tombstones, added.bytes);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER count_updates AFTER UPDATE ON ubiquitous_store.records
  REFERENCING OLD TABLE AS old_records NEW TABLE AS new_records
  FOR EACH STATEMENT EXECUTE FUNCTION ubiquitous_store.count_updates();

-- What a device asks when it connects: makes the account at the first time.
CREATE FUNCTION ubiquitous_store.open_account() RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM ubiquitous_store.accounts WHERE account = session_user) THEN
    INSERT INTO ubiquitous_store.accounts (account) VALUES (session_user) ON CONFLICT DO NOTHING;
  END IF;
  RETURN session_user;
END $$;

-- For administrators, after a back-up was restored: devices forget their place, and send what the back-up lacks.
CREATE FUNCTION ubiquitous_store.renew_incarnations() RETURNS bigint
  LANGUAGE sql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
  WITH renewed AS (UPDATE ubiquitous_store.accounts SET incarnation = gen_random_uuid() RETURNING 1) SELECT count(*) FROM renewed
$$;

-- For administrators, when a user has left: her role may be given to somebody else of that name later, who must not find her keys.
CREATE FUNCTION ubiquitous_store.remove_account(of_role name) RETURNS bigint
  LANGUAGE sql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
  WITH removed AS (DELETE FROM ubiquitous_store.records WHERE account = of_role RETURNING 1),
    gone AS (DELETE FROM ubiquitous_store.accounts WHERE account = of_role) SELECT count(*) FROM removed
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ubiquitous_store FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ubiquitous_store.open_account(), ubiquitous_store.latest_milliseconds(),
  ubiquitous_store.channel(uuid, bytea) TO ubiquitous_store_user;

ALTER TABLE ubiquitous_store.accounts ENABLE ROW LEVEL SECURITY;
ALTER TABLE ubiquitous_store.accounts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_account ON ubiquitous_store.accounts USING (account = session_user) WITH CHECK (account = session_user);
ALTER TABLE ubiquitous_store.stores ENABLE ROW LEVEL SECURITY;
ALTER TABLE ubiquitous_store.stores FORCE ROW LEVEL SECURITY;
CREATE POLICY own_stores ON ubiquitous_store.stores USING (account = session_user) WITH CHECK (account = session_user);
ALTER TABLE ubiquitous_store.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE ubiquitous_store.records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_records ON ubiquitous_store.records USING (account = session_user) WITH CHECK (account = session_user);

-- Rights on columns: whoever may change a whole table may also lock it against everybody else.
GRANT SELECT ON ubiquitous_store.schema_version, ubiquitous_store.accounts, ubiquitous_store.stores, ubiquitous_store.records
  TO ubiquitous_store_user;
GRANT INSERT (store, key, value, milliseconds, counter, device) ON ubiquitous_store.records TO ubiquitous_store_user;
GRANT UPDATE (value, milliseconds, counter, device) ON ubiquitous_store.records TO ubiquitous_store_user;

RESET ROLE;
