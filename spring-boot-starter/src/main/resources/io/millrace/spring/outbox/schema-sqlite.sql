-- The outbox of Millrace. Times are in milliseconds since the epoch.
CREATE TABLE IF NOT EXISTS millrace_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_type VARCHAR(64) NOT NULL,
  job_order TEXT NOT NULL,
  payload BLOB NOT NULL,
  created_at BIGINT NOT NULL,
  sent_at BIGINT,
  problem TEXT
);

-- One row: which relay sends, and until when.
CREATE TABLE IF NOT EXISTS millrace_outbox_relay (
  id INT PRIMARY KEY,
  relay VARCHAR(64) NOT NULL,
  held_until BIGINT NOT NULL
);
