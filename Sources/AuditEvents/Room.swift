// First file of the room AuditEvents.
