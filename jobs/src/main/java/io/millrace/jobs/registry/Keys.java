package io.millrace.jobs.registry;

import io.millrace.jobs.JobId;
import io.millrace.store.DocumentKey;
import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;

/** The names of the documents of jobs. */
final class Keys {
  static final String JOBS = "jobs.jobs";
  static final String NAMES = "jobs.keys";
  static final String BATCHES = "jobs.batches";
  static final String CURRENT = "jobs.current";
  static final String MEMBERS = "jobs.members";
  static final String PAYLOADS = "jobs.payloads";
  static final String RESULTS = "jobs.results";
  static final String FAILURES = "jobs.failures";
  static final String RETURNS = "jobs.returns";

  /** The jobs of whose results others are still to be made, by their GUIDs. */
  static final String FOLLOW_ONS = "jobs.follow-ons";

  /** The unique keys that are held. */
  static final String UNIQUE = "jobs.unique";

  /** When jobs are over time; in the order of these times. */
  static final String DEADLINES = "jobs.deadlines";

  /** How long jobs of a type stay, if that was set while the server runs. */
  static final String RETENTION = "jobs.retention";

  /** The settings of types that were set while the server runs. */
  static final String SETTINGS = "jobs.settings";

  static final String CONFIG = "jobs.config";

  /** The types that the server was started with. */
  static final DocumentKey TYPES = new DocumentKey(CONFIG, "types");

  /** The settings of these types by the configuration, for servers that only read the store. */
  static final DocumentKey TYPE_POLICIES = new DocumentKey(CONFIG, "type-policies");

  /** The number of the batch that was opened last, over all types. */
  static final DocumentKey LAST_BATCH = new DocumentKey(CONFIG, "last-batch");

  private static final int DIGITS = 16;
  private static final int LONGEST_NAME = 500;
  private static final int HASH_BYTES = 32;

  private Keys() {}

  static DocumentKey job(JobId id) {
    return new DocumentKey(JOBS, id.toString());
  }

  /**
   * Keeps a key unique; its body is the GUID. The name of a document takes fewer bytes than a key
   * may have, so a long key is known by its hash.
   */
  static DocumentKey name(String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return new DocumentKey(
        NAMES, bytes.length <= LONGEST_NAME ? "=" + key : "#" + hash(key, HASH_BYTES));
  }

  static DocumentKey batch(long number) {
    return new DocumentKey(BATCHES, padded(number));
  }

  /** Says which batch of a type is being filled. The slash is for the type without a name. */
  static DocumentKey current(String type) {
    return new DocumentKey(CURRENT, "/" + type);
  }

  /** What the keys of a batch's members begin with. */
  static String members(long batch) {
    return padded(batch) + "/";
  }

  /** A job of a batch; the body is its index in the batch. */
  static DocumentKey member(long batch, JobId id) {
    return new DocumentKey(MEMBERS, members(batch) + id);
  }

  /** A payload that is small enough. */
  static DocumentKey payload(JobId id) {
    return new DocumentKey(PAYLOADS, id.toString());
  }

  /** A result that is small enough, or else the name of its blob. */
  static DocumentKey result(JobId id) {
    return new DocumentKey(RESULTS, id.toString());
  }

  /** What the keys of a job's failures and returns begin with. */
  static String failures(JobId id) {
    return id + "/";
  }

  /**
   * A failure.
   *
   * @param number the claim's token, or a version of the job: both come from one growing counter
   */
  static DocumentKey failure(JobId id, long number) {
    return new DocumentKey(FAILURES, failures(id) + padded(number));
  }

  /** A return; {@code number} as for {@link #failure}. */
  static DocumentKey returned(JobId id, long number) {
    return new DocumentKey(RETURNS, failures(id) + padded(number));
  }

  /** Says that another job is still to be made of the result of this one. */
  static DocumentKey followOn(JobId id) {
    return new DocumentKey(FOLLOW_ONS, id.toString());
  }

  /** Held by the job of a type that has this unique key. */
  static DocumentKey unique(String type, String hash) {
    return new DocumentKey(UNIQUE, type + "/" + hash);
  }

  /** Says when a job is over time. */
  static DocumentKey deadline(long atMillis, JobId id) {
    return new DocumentKey(DEADLINES, padded(atMillis) + "/" + id);
  }

  static String padded(long number) {
    String digits = Long.toString(number);
    return "0".repeat(DIGITS - digits.length()) + digits;
  }

  /**
   * A short form of a text of any length, for names of groups and documents: the first bytes of its
   * SHA-256, in hexadecimal.
   */
  static String hash(String text, int bytes) {
    return Sha256.hex(text).substring(0, 2 * bytes);
  }
}
