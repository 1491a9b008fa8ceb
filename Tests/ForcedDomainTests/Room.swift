// First file of ForcedDomainTests.
