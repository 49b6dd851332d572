"""Pages for those who get the data: folders that describe, sign and verify themselves.

released.py      what is published: rows and the public part of their receipt
words.py         what a receipt says, in plain words; the data dictionary
metadata.py      Frictionless, schema.org and Croissant
page.py          one page of HTML
folder.py        the files of a folder, their hashes, and the signature
signing.py       keys, and the signatures of receipts and folders
publishing.py    a folder about releases
account.py       a folder about a ledger
verification.py  whether a folder, a receipt or a chain is what it says
"""
