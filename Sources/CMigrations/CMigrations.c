#include "CMigrations.h"
#include <stddef.h>

// A new migration takes one array here and one line in `migrations`.

static const char V001_store[] = {
#embed "../../Migrations/V001_store.sql" suffix(, 0)
};

static const char V002_account[] = {
#embed "../../Migrations/V002_account.sql" suffix(, 0)
};

static const char V003_token[] = {
#embed "../../Migrations/V003_token.sql" suffix(, 0)
};

static const char V004_record[] = {
#embed "../../Migrations/V004_record.sql" suffix(, 0)
};

static const char V005_refresh[] = {
#embed "../../Migrations/V005_refresh.sql" suffix(, 0)
};

static const char V006_subject[] = {
#embed "../../Migrations/V006_subject.sql" suffix(, 0)
};

static const char V007_asked[] = {
#embed "../../Migrations/V007_asked.sql" suffix(, 0)
};

static const char V008_identity[] = {
#embed "../../Migrations/V008_identity.sql" suffix(, 0)
};

static const char V009_aside[] = {
#embed "../../Migrations/V009_aside.sql" suffix(, 0)
};

static const char V010_binding[] = {
#embed "../../Migrations/V010_binding.sql" suffix(, 0)
};

static const char V011_account_key[] = {
#embed "../../Migrations/V011_account_key.sql" suffix(, 0)
};

static const char V012_dpop_key[] = {
#embed "../../Migrations/V012_dpop_key.sql" suffix(, 0)
};

static const char V013_account_tag[] = {
#embed "../../Migrations/V013_account_tag.sql" suffix(, 0)
};

static const char V014_default_account[] = {
#embed "../../Migrations/V014_default_account.sql" suffix(, 0)
};

// The first four steps make one release: no program knows only some of them.
static const CMigration migrations[] = {
    {"V001_store", V001_store, 4, 4, 0},
    {"V002_account", V002_account, 4, 4, 0},
    {"V003_token", V003_token, 4, 4, 0},
    {"V004_record", V004_record, 4, 4, 0},
    // New tables only: a program without them neither needs nor harms them.
    {"V005_refresh", V005_refresh, 4, 4, 0},
    // A program without it looks for subjects with capitals in the old place.
    {"V006_subject", V006_subject, 6, 6, 0},
    // A program without it refreshes once more often.
    {"V007_asked", V007_asked, 6, 6, 0},
    // A program without it names accounts by columns that are gone.
    {"V008_identity", V008_identity, 8, 8, 0},
    // A program without it leaves hashes behind that a rekey has made worthless.
    {"V009_aside", V009_aside, 8, 9, 0},
    // A program without it cannot open values that are sealed with their row. Nothing is lost, and a copy would hold
    // the tokens as they can still be misused.
    {"V010_binding", V010_binding, 10, 10, 0},
    // A program without it finds accounts by a column that is gone.
    {"V011_account_key", V011_account_key, 11, 11, 0},
    // A program without it sends bound refresh tokens without a proof, and leaves keys behind that a rekey does not open.
    {"V012_dpop_key", V012_dpop_key, 12, 12, 0},
    // A program without it leaves tags behind that a rekey does not open.
    {"V013_account_tag", V013_account_tag, 12, 13, 0},
    // A program without it leaves a choice behind that a rekey does not open.
    {"V014_default_account", V014_default_account, 12, 14, 0},
};

const CMigration *CMigrationAt(int index) {
    return index >= 0 && index < (int)(sizeof(migrations) / sizeof(*migrations)) ? &migrations[index] : NULL;
}

// The same on a server: its first step is what the file's steps up to that number make.

static const char V014_server_store[] = {
#embed "../../Migrations/PostgreSQL/V014_store.sql" suffix(, 0)
};

static const CMigration server_migrations[] = {
    {"V014_store", V014_server_store, 14, 14, 0},
};

const CMigration *CServerMigrationAt(int index) {
    const int count = sizeof server_migrations / sizeof server_migrations[0];
    return index >= 0 && index < count ? &server_migrations[index] : NULL;
}
