"""MSAL for Python with msal-extensions, doing what the token store is measured at.

Usage: msal_python.py WORK ARGUMENT...

Times are printed in seconds, a line each. Caches are files that several processes share, in plain text.
"""
import base64
import importlib.metadata
import json
import sys
import time
import uuid

import msal
import msal_extensions
import requests


class Response:
    status_code = 200
    headers = {}

    def __init__(self, body):
        self.text = body

    def raise_for_status(self):
        pass


class Offline:
    """Answers discovery with what the address itself says; nothing else is asked where the cache has a token."""

    def get(self, url, **kwargs):
        base = url.split("/v2.0/.well-known/")[0]
        return Response(json.dumps({
            "issuer": base,
            "authorization_endpoint": base + "/oauth2/v2.0/authorize",
            "token_endpoint": base + "/oauth2/v2.0/token",
        }))

    def close(self):
        pass


class Loopback:
    """MSAL takes https only, and an issuer on loopback has no certificate."""

    def __init__(self):
        self.session = requests.Session()

    def get(self, url, **kwargs):
        return self.plain(self.session.get(url.replace("https:", "http:", 1), **kwargs))

    def post(self, url, **kwargs):
        return self.plain(self.session.post(url.replace("https:", "http:", 1), **kwargs))

    def plain(self, response):
        answer = Response(response.text.replace("http:", "https:"))
        answer.status_code, answer.headers = response.status_code, response.headers
        return answer

    def close(self):
        self.session.close()


def shared(path):
    return msal_extensions.PersistedTokenCache(msal_extensions.FilePersistence(path))


def chosen(path, kind, count):
    """Entries from all over a cache."""
    with open(path, encoding="utf-8") as file:
        entries = list(json.load(file)[kind].values())
    return entries[::max(1, len(entries) // count)][:count]


def application(cache, token):
    authority = "https://{environment}/{realm}".format(**token)
    return msal.PublicClientApplication(
        token["client_id"], authority=authority, instance_discovery=False, token_cache=cache, http_client=Offline()
    )


def ask(app, token):
    # With every scope that the token has: then MSAL finds it by its key.
    found = app.acquire_token_silent(token["target"].split(" "), account=token)
    assert found and found["access_token"] == token["secret"]


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def repeated(path, rounds):
    """Asks again for tokens of a cache that is in memory."""
    tokens = chosen(path, "AccessToken", 400)
    app = application(shared(path), tokens[0])
    for token in tokens:
        ask(app, token)
    for _ in range(int(rounds)):
        yield timed(lambda: [ask(app, token) for token in tokens]) / len(tokens)


def first(path, rounds):
    """Asks for one token of a cache that is not in memory yet."""
    [token] = chosen(path, "AccessToken", 1)
    for _ in range(int(rounds)):
        app = application(shared(path), token)
        yield timed(lambda: ask(app, token))


def event(path):
    """What MSAL hands to its cache after the sign-in of a new account, with tokens as long as others in the cache."""
    access, refresh, identity = (chosen(path, kind, 1)[0] for kind in ("AccessToken", "RefreshToken", "IdToken"))
    return new_account({
        "client_id": access["client_id"],
        "scope": access["target"].split(" "),
        "token_endpoint": "https://{environment}/{realm}/oauth2/v2.0/token".format(**access),
        "grant_type": "authorization_code",
        "response": {
            "token_type": "Bearer", "expires_in": 3600, "access_token": access["secret"],
            "refresh_token": refresh["secret"], "id_token": identity["secret"],
        },
    })


def new_account(event):
    identity = json.dumps({"uid": str(uuid.uuid4()), "utid": "contoso"}).encode()
    client_info = base64.urlsafe_b64encode(identity).decode().rstrip("=")
    return {**event, "response": {**event["response"], "client_info": client_info}}


def sign_in(path, rounds):
    cache, sample = shared(path), event(path)
    for _ in range(int(rounds)):
        fresh = new_account(sample)
        yield timed(lambda: cache.add(fresh))


def take_in(document, path):
    """Reads a document and writes it to a cache."""
    cache = shared(path)
    with open(document, encoding="utf-8") as file:
        cache.deserialize(file.read())
    msal_extensions.FilePersistence(path).save(cache.serialize())


def wait():
    """Says that everything is ready, and waits until standard input ends."""
    print(flush=True)
    sys.stdin.read()


def wait_for_byte():
    """Says that everything is ready, and waits until there is something on standard input."""
    print(flush=True)
    sys.stdin.buffer.raw.read(1)


def end(found):
    """Says that it has a token, and lives on until standard input ends; without a token it ends at once."""
    if not found or "access_token" not in found:
        sys.exit(1)
    print(flush=True)
    sys.stdin.buffer.raw.read()
    sys.exit(0)


def crowd(path, sample):
    """Signs in two accounts when all processes are ready."""
    cache, sample = shared(path), event(sample)
    wait()
    for _ in range(2):
        cache.add(new_account(sample))


def write(path):
    """Signs the same account in until it is killed, and prints a line for each time that has returned."""
    cache, sample = shared(path), event(path)
    while True:
        cache.add(sample)
        print(flush=True)


def begin(path, authority, client, scope, response):
    """Stores the answer of an issuer, whose access token has ended."""
    with open(response, encoding="utf-8") as file:
        answer = json.load(file)
    shared(path).add({
        "client_id": client, "scope": scope.split(" "), "token_endpoint": authority + "/oauth2/v2.0/token",
        "grant_type": "authorization_code", "response": {**answer, "expires_in": 0},
    })


def race(path, authority, client, scope):
    """Asks for a token when all processes are ready."""
    app = msal.PublicClientApplication(
        client, oidc_authority=authority, instance_discovery=False, token_cache=shared(path), http_client=Loopback()
    )
    wait_for_byte()
    end(app.acquire_token_silent(scope.split(" "), account=app.get_accounts()[0]))


class ServerCaches:
    """A cache for each person as a row of a table, the way web apps keep MSAL's caches in their sessions."""

    def __init__(self, server):
        import psycopg2

        self.connection = psycopg2.connect(server)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("CREATE TABLE IF NOT EXISTS msal_cache (owner text PRIMARY KEY, cache text NOT NULL)")

    def read(self, owner):
        cache = msal.SerializableTokenCache()
        self.cursor.execute("SELECT cache FROM msal_cache WHERE owner = %s", (owner,))
        row = self.cursor.fetchone()
        if row:
            cache.deserialize(row[0])
        return cache

    def write(self, owner, cache):
        if cache.has_state_changed:
            self.cursor.execute(
                "INSERT INTO msal_cache VALUES (%s, %s) ON CONFLICT (owner) DO UPDATE SET cache = excluded.cache",
                (owner, cache.serialize()),
            )


def server_version(server):
    import psycopg2

    print(psycopg2.__version__.split(" ")[0])


def server_lookup(server, path, rounds):
    """Asks for tokens of caches that are on a server."""
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    people = {}
    for kind, entries in whole.items():
        for key, entry in entries.items():
            if "home_account_id" in entry:
                people.setdefault(entry["home_account_id"], {}).setdefault(kind, {})[key] = entry
    caches = ServerCaches(server)
    for owner, entries in people.items():
        cache = msal.SerializableTokenCache()
        cache.deserialize(json.dumps(entries))
        cache.has_state_changed = True
        caches.write(owner, cache)
    tokens = chosen(path, "AccessToken", 200)
    for _ in range(int(rounds)):
        yield timed(lambda: [
            ask(application(caches.read(token["home_account_id"]), token), token) for token in tokens
        ]) / len(tokens)


def server_begin(server, authority, client, scope, response):
    """Stores the answer of an issuer, whose access token has ended."""
    with open(response, encoding="utf-8") as file:
        answer = json.load(file)
    caches = ServerCaches(server)
    cache = msal.SerializableTokenCache()
    cache.add({
        "client_id": client, "scope": scope.split(" "), "token_endpoint": authority + "/oauth2/v2.0/token",
        "grant_type": "authorization_code", "response": {**answer, "expires_in": 0},
    })
    caches.write("racer", cache)


def server_race(server, authority, client, scope):
    """Asks for a token when all processes are ready."""
    caches = ServerCaches(server)
    wait_for_byte()
    cache = caches.read("racer")
    app = msal.PublicClientApplication(
        client, oidc_authority=authority, instance_discovery=False, token_cache=cache, http_client=Loopback()
    )
    found = app.acquire_token_silent(scope.split(" "), account=app.get_accounts()[0])
    caches.write("racer", cache)
    end(found)


def version():
    print(sys.executable)
    print(importlib.metadata.version("msal"), "with msal-extensions", importlib.metadata.version("msal-extensions"))


WORKS = {work.__name__: work for work in (
    repeated, first, sign_in, take_in, crowd, write, begin, race, version,
    server_version, server_lookup, server_begin, server_race,
)}

for seconds in WORKS[sys.argv[1]](*sys.argv[2:]) or ():
    print(seconds)
