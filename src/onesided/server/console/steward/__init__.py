"""What stewards see: their data, their promise, the people, and the account."""
