-- The outbox of Millrace. Times are in milliseconds since the epoch.
CREATE TABLE IF NOT EXISTS millrace_outbox (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_type VARCHAR(64) NOT NULL,
  job_order TEXT NOT NULL,
  payload BYTEA NOT NULL,
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
