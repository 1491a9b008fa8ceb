// First file of AuditEventsTests.
