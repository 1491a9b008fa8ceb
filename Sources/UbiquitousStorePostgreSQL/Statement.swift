/// The statements that a connection prepares when it opens. Names are whole, whatever the search path of a role is.
enum Statement: String, CaseIterable {
  /// Offers records to a store: its name; keys, values, milliseconds, counters, devices.
  case put
  /// What became of offered records: the store's name; keys, milliseconds, counters, devices. Only those that do not stand now are in
  /// the answer: the number among the offered (from 1), the server's milliseconds, the stamp that stands, if one does, and whether it is
  /// the greater one; then also the value.
  case outcomes
  /// What changed in a store: its name; incarnation and number of the cursor. The answer has one row for each record, and one without
  /// a record where there is none.
  case changes
  /// The channel of a store's hints: its name.
  case channel

  var text: String {
    switch self {
    case .put:
      // The trigger numbers changes, leaves alone what is not older, and refuses the whole group for a clock that is too far ahead; so
      // those are left out here (Migrations/0001-records.sql).
      """
      INSERT INTO ubiquitous_store.records (store, key, value, milliseconds, counter, device)
      SELECT $1, offered.* FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::integer[], $6::uuid[])
        AS offered (key, value, milliseconds, counter, device)
      WHERE offered.milliseconds <= ubiquitous_store.latest_milliseconds()
      ON CONFLICT (account, store, key) DO UPDATE SET value = excluded.value, milliseconds = excluded.milliseconds,
        counter = excluded.counter, device = excluded.device
      """
    case .outcomes:
      """
      SELECT offered.number, pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint,
        standing.milliseconds, standing.counter, standing.device, newer.*,
        CASE WHEN newer.is_newer THEN standing.value END
      FROM unnest($2::bytea[], $3::bigint[], $4::integer[], $5::uuid[]) WITH ORDINALITY
        AS offered (key, milliseconds, counter, device, number)
      LEFT JOIN ubiquitous_store.records AS standing
        ON standing.account = session_user AND standing.store = $1 AND standing.key = offered.key
      CROSS JOIN LATERAL (SELECT coalesce((standing.milliseconds, standing.counter, standing.device)
        > (offered.milliseconds, offered.counter, offered.device), false) AS is_newer) AS newer
      WHERE standing.key IS NULL OR (standing.milliseconds, standing.counter, standing.device)
        <> (offered.milliseconds, offered.counter, offered.device)
      """
    case .changes:
      """
      SELECT account.incarnation, coalesce(store.last_sequence, 0), reader.goes_on,
        store.floor_milliseconds, store.floor_counter, store.floor_device,
        record.key, record.value, record.milliseconds, record.counter, record.device
      FROM ubiquitous_store.accounts AS account
      LEFT JOIN ubiquitous_store.stores AS store ON store.account = account.account AND store.store = $1
      CROSS JOIN LATERAL (SELECT coalesce(account.incarnation = $2::uuid
        AND $3::bigint BETWEEN coalesce(store.floor_sequence, 0) AND coalesce(store.last_sequence, 0), false) AS goes_on)
        AS reader
      LEFT JOIN ubiquitous_store.records AS record ON record.account = account.account AND record.store = $1
        AND record.sequence > CASE WHEN reader.goes_on THEN $3::bigint ELSE 0 END
      WHERE account.account = session_user
      """
    case .channel:
      "SELECT ubiquitous_store.channel(channel_secret, $1) FROM ubiquitous_store.accounts WHERE account = session_user"
    }
  }
}
