// First file of the room ForcedDomain.
