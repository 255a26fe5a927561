"""The subject token that google-auth gets from an executable."""

import json
import sys

import google.auth.exceptions
import google.auth.pluggable

with open(sys.argv[1]) as file:
    credentials = google.auth.pluggable.Credentials.from_info(json.load(file))
try:
    print(credentials.retrieve_subject_token(None))
except google.auth.exceptions.GoogleAuthError as error:
    print("refused:", error)
