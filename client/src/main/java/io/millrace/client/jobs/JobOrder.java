package io.millrace.client.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How a job is submitted. Immutable.
 *
 * @param fields the fields of the form of {@code POST /api/jobs/submit} by name, without the
 *     payload
 */
public record JobOrder(Map<String, String> fields) {
  /** As soon as the jobs before it have been given out, with the settings of its type. */
  public static final JobOrder DEFAULT = new JobOrder(Map.of("Priority", "batch"));

  /** Copies the fields. */
  public JobOrder {
    fields = Map.copyOf(fields);
  }

  /**
   * The same with a setting, for example {@code attempts}, {@code retry_delay}, {@code timeout},
   * {@code unique} or {@code limit_key}. The server refuses a job with an unknown or invalid one.
   */
  public JobOrder with(String setting, String value) {
    Map<String, String> all = new LinkedHashMap<>(fields);
    all.put(setting, value);
    return new JobOrder(all);
  }

  /** The same before all jobs that are not immediate. */
  public JobOrder immediate() {
    return with("Priority", "immediate");
  }

  /**
   * The same with a key by which the job can be found.
   *
   * @param key 1 to 256 characters; unique among the jobs there are
   */
  public JobOrder withKey(String key) {
    return with("Key", key);
  }

  /**
   * The same with a description for people.
   *
   * @param description up to 128 characters
   */
  public JobOrder withDescription(String description) {
    return with("Description", description);
  }

  /** The same, not before this time has passed. */
  public JobOrder withDelay(Duration delay) {
    return with("Delay", delay.toMillis() + "ms");
  }

  /** The same, not before this moment. */
  public JobOrder withStart(Instant start) {
    return with("At", start.toString());
  }

  /**
   * The same with a request id, drawn at random: if the submission is repeated with it within seven
   * days, it makes no second job, whatever has become of the first one.
   *
   * @param id 1 to 128 characters
   */
  public JobOrder withRequestId(String id) {
    return with("RequestId", id);
  }

  /** The same with a key: as long as a job holds it, another submission with it makes no job. */
  public JobOrder withUnique(String key) {
    return with("unique", key);
  }
}
