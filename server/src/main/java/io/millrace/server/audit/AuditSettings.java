package io.millrace.server.audit;

import io.millrace.access.audit.AuditLog;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import java.time.Duration;

/**
 * The settings of the audit log.
 *
 * @param enabled whether there is one
 * @param log how much is kept
 */
public record AuditSettings(boolean enabled, AuditLog.Settings log) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final Key<Boolean> ENABLED =
      KEYS.bool(
          "enabled",
          true,
          "Whether changes and refusals are recorded; see docs/audit.md. What was recorded before"
              + " is kept and can be read in any case.");
  private static final Key<Duration> KEEP =
      KEYS.duration(
          "keep",
          Duration.ofMinutes(1),
          Duration.ofDays(36_500),
          Duration.ofDays(90),
          "How long an entry is kept.");
  private static final Key<Long> MAX_BYTES =
      KEYS.bytes(
          "max-bytes",
          1 << 16,
          1L << 40,
          32 << 20,
          "32MiB",
          "How much memory and journal all entries may take, about; beyond it the oldest are"
              + " removed.");

  /** The same for one of several shards, which keep the same part of the log each. */
  AuditSettings ofShard(int shards) {
    return new AuditSettings(enabled, new AuditLog.Settings(log.keep(), log.maxBytes() / shards));
  }

  /** The section {@code audit}. */
  public static final Section<AuditSettings> SECTION =
      KEYS.section(
          "audit",
          values ->
              new AuditSettings(
                  values.get(ENABLED),
                  new AuditLog.Settings(values.get(KEEP), values.get(MAX_BYTES))));
}
