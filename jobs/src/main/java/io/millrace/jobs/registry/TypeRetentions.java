package io.millrace.jobs.registry;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.Retention;
import java.util.Map;
import java.util.TreeMap;

/**
 * How long jobs of each type stay in the store, as it was set while the server runs. It takes
 * precedence over the configuration, and counts for all servers of the store. Safe for use by
 * threads.
 */
public final class TypeRetentions {
  private final JobStore store;

  TypeRetentions(JobStore store) {
    this.store = store;
  }

  /** What was set, by the names of the types; the empty name is for jobs without a type. */
  public Map<String, Policy> all() {
    Map<String, Policy> all = new TreeMap<>();
    for (Document document : store.all(Keys.RETENTION)) {
      all.put(document.key().key().substring(1), Policy.parse(document.body().utf8()));
    }
    return all;
  }

  /**
   * Sets how long the jobs of a type stay.
   *
   * @param type its name; empty for jobs without a type
   * @param keepFinished the age, as in {@code 7d}; empty for that of the configuration
   * @param keepCount the number; empty for that of the configuration
   * @throws PolicyException if one of them is invalid, or if both are empty
   */
  public void put(String type, String keepFinished, String keepCount) {
    Policy policy =
        Policy.NONE.with(Map.of("keep_finished", keepFinished, "keep_count", keepCount));
    if (policy.isEmpty()) {
      throw new PolicyException("", "a retention has keep_finished, keep_count or both");
    }
    StringBuilder line = new StringBuilder();
    policy
        .fields()
        .forEach((field, text) -> line.append(field).append('=').append(text).append(' '));
    var _ =
        store.retry(
            "the retention of a type",
            () ->
                store.tryCommit(
                    store
                        .begin()
                        .put(key(type), DocumentVersion.ANY, Bytes.of(line.toString().strip()))
                        .build()));
  }

  /** Takes back what was set for a type; whether there was anything. */
  public boolean delete(String type) {
    Document there = store.document(key(type)).orElse(null);
    return there != null
        && store.tryCommit(store.begin().delete(there.key(), there.version()).build()) != null;
  }

  private static DocumentKey key(String type) {
    return new DocumentKey(Keys.RETENTION, "/" + type);
  }

  /** How long jobs of a type stay, by what {@link #all} gave. */
  static Retention of(Map<String, Policy> all, String type, Retention configured) {
    return all.getOrDefault(type, Policy.NONE).retention(configured);
  }
}
