"""What botocore makes of a profile with a credential_process."""

import json
import sys

import botocore.session

credentials = botocore.session.Session(profile=sys.argv[1]).get_credentials()
keys = credentials.get_frozen_credentials()
print(json.dumps([keys.access_key, keys.secret_key, keys.token, credentials.method]))
