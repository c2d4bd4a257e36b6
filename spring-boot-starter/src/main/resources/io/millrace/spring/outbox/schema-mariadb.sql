-- The outbox of Millrace. Times are in milliseconds since the epoch.
CREATE TABLE IF NOT EXISTS millrace_outbox (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  job_type VARCHAR(64) NOT NULL,
  job_order LONGTEXT NOT NULL,
  payload LONGBLOB NOT NULL,
  created_at BIGINT NOT NULL,
  sent_at BIGINT,
  problem LONGTEXT
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- One row: which relay sends, and until when.
CREATE TABLE IF NOT EXISTS millrace_outbox_relay (
  id INT PRIMARY KEY,
  relay VARCHAR(64) NOT NULL,
  held_until BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
