package io.millrace.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes that are executed completely or not at all. Build one with {@link #by}.
 *
 * @param client the client, which becomes the owner of tasks with a future time
 * @param adds tasks to create
 * @param updates tasks to change
 * @param renewals claims to renew
 * @param takings waiting tasks to claim by id or origin
 * @param deletes tasks to delete
 * @param depends tasks that must exist; if a reference has an id, unchanged
 * @param puts documents to write
 * @param documentDeletes documents to delete
 * @param documentDepends documents that must have a version
 * @param requestId if a transaction with the same id and content is submitted again within ten
 *     minutes of store time, the first answer is repeated; with other content, it is refused. At
 *     most 128 bytes of UTF-8; null for none
 * @param override whether to use an operator's right to change tasks of other owners; recorded with
 *     the commit
 */
public record Transaction(
    Owner client,
    List<Add> adds,
    List<Update> updates,
    List<Renewal> renewals,
    List<Taking> takings,
    List<TaskRef> deletes,
    List<TaskRef> depends,
    List<Put> puts,
    List<DocumentVersion> documentDeletes,
    List<DocumentVersion> documentDepends,
    @Nullable String requestId,
    boolean override)
    implements Command {

  /**
   * A task to create.
   *
   * @param group its group, 1 to 512 bytes of UTF-8
   * @param data its data
   * @param when when it becomes available
   * @param owned whether the client owns it until then; otherwise nobody does, and it is delayed
   * @param localName a name by which puts of the same transaction may refer to the new task, see
   *     {@link Put}; null for none
   * @param lane its key and priority; null for an empty key and priority 0
   */
  public record Add(
      String group,
      Bytes data,
      When when,
      boolean owned,
      @Nullable String localName,
      Task.@Nullable Lane lane) {
    /** A task with an empty key and priority 0. */
    public Add(String group, Bytes data, When when, boolean owned, @Nullable String localName) {
      this(group, data, when, owned, localName, null);
    }
  }

  /**
   * A change of a task, which keeps its group, origin, lane and number of claims.
   *
   * <p>With a future time, the client owns the task until then; an active claim of the client keeps
   * its token. With a past time or {@link When#now()}, the task is released.
   *
   * @param task the task to change
   * @param data its new data; null to keep the data
   * @param when when it becomes available
   */
  public record Update(TaskRef task, @Nullable Bytes data, When when) {}

  /**
   * A claim to renew. Refused if the claim has ended.
   *
   * @param task the claimed task
   * @param leaseMillis the length of the lease from now, positive
   * @param revive whether to renew the claim even if its lease has ended, as long as the task has
   *     not changed since. Claim limits do not apply then, so this is for a service that has just
   *     started and knows that no other client has claimed meanwhile
   */
  public record Renewal(TaskRef task, long leaseMillis, boolean revive) {}

  /**
   * A waiting task to claim, in one commit with other changes. The result is the same as that of a
   * {@link Claim}: the client owns the task until the lease ends, its new id is its fencing token,
   * and it has been claimed once more. Refused if the task does not exist or is not waiting, or if
   * a limit of its group, key or a shared one is reached, see {@link Throttling}. {@link
   * Claim#whileFewerThan()} does not apply.
   *
   * @param task the task to claim
   * @param leaseMillis how long the claim lasts from now, not negative
   * @param localName a name by which puts of the same transaction may refer to the id, and so the
   *     token, that the claim gives, see {@link Put}; null for none
   */
  public record Taking(TaskRef task, long leaseMillis, @Nullable String localName) {}

  /**
   * A document to write. In the body of a template, every {@code {{local name}}} is replaced by the
   * id, in decimal, of the task that the transaction adds or takes under that local name.
   *
   * @param key the key of the document
   * @param expectedVersion the version that it must have; {@link DocumentVersion#ABSENT} if it must
   *     not exist, {@link DocumentVersion#ANY} for any version or none
   * @param body its new content
   * @param template whether the body is a template, which must be UTF-8
   */
  public record Put(DocumentKey key, long expectedVersion, Bytes body, boolean template) {}

  /**
   * A document and the version that it must have.
   *
   * @param key the key of the document
   * @param version the expected version, {@link #ABSENT} or {@link #ANY}
   */
  public record DocumentVersion(DocumentKey key, long version) {
    /** The document must not exist. */
    public static final long ABSENT = 0;

    /** The document must exist, with any version; for a put, it may also be absent. */
    public static final long ANY = -1;
  }

  public Transaction {
    adds = List.copyOf(adds);
    updates = List.copyOf(updates);
    renewals = List.copyOf(renewals);
    takings = List.copyOf(takings);
    deletes = List.copyOf(deletes);
    depends = List.copyOf(depends);
    puts = List.copyOf(puts);
    documentDeletes = List.copyOf(documentDeletes);
    documentDepends = List.copyOf(documentDepends);
  }

  /** A builder of a transaction of {@code client}. */
  public static Builder by(Owner client) {
    return new Builder(client);
  }

  /** Collects the parts of a transaction. Not thread-safe. */
  public static final class Builder {
    private final Owner client;
    private final List<Add> adds = new ArrayList<>();
    private final List<Update> updates = new ArrayList<>();
    private final List<Renewal> renewals = new ArrayList<>();
    private final List<Taking> takings = new ArrayList<>();
    private final List<TaskRef> deletes = new ArrayList<>();
    private final List<TaskRef> depends = new ArrayList<>();
    private final List<Put> puts = new ArrayList<>();
    private final List<DocumentVersion> documentDeletes = new ArrayList<>();
    private final List<DocumentVersion> documentDepends = new ArrayList<>();
    private @Nullable String requestId;
    private boolean override;

    private Builder(Owner client) {
      this.client = client;
    }

    /** Adds a task that is available at once. */
    public Builder add(String group, Bytes data) {
      return add(new Add(group, data, When.now(), false, null));
    }

    /** Adds a task with a text as its data, encoded as UTF-8, that is available at once. */
    public Builder add(String group, String data) {
      return add(group, Bytes.of(data));
    }

    /** Adds a task. */
    public Builder add(Add add) {
      adds.add(add);
      return this;
    }

    /** Changes a task; see {@link Update}. */
    public Builder update(TaskRef task, @Nullable Bytes data, When when) {
      updates.add(new Update(task, data, when));
      return this;
    }

    /** Releases a task: it keeps its data and is available at once. */
    public Builder release(TaskRef task) {
      return update(task, null, When.now());
    }

    /** Renews a claim. */
    public Builder renew(TaskRef task, Duration lease) {
      renewals.add(new Renewal(task, lease.toMillis(), false));
      return this;
    }

    /** Renews a claim even if its lease has ended; see {@link Renewal#revive()}. */
    public Builder revive(TaskRef task, Duration lease) {
      renewals.add(new Renewal(task, lease.toMillis(), true));
      return this;
    }

    /** Claims a waiting task. */
    public Builder take(TaskRef task, Duration lease) {
      return take(new Taking(task, lease.toMillis(), null));
    }

    /** Claims a waiting task. */
    public Builder take(Taking taking) {
      takings.add(taking);
      return this;
    }

    /** Deletes a task. */
    public Builder delete(TaskRef task) {
      deletes.add(task);
      return this;
    }

    /** Requires a task to exist. */
    public Builder depend(TaskRef task) {
      depends.add(task);
      return this;
    }

    /** Writes a document at a version. */
    public Builder put(DocumentKey key, long expectedVersion, Bytes body) {
      return put(new Put(key, expectedVersion, body, false));
    }

    /** Writes a document. */
    public Builder put(Put put) {
      puts.add(put);
      return this;
    }

    /** Deletes a document at a version. */
    public Builder delete(DocumentKey key, long expectedVersion) {
      documentDeletes.add(new DocumentVersion(key, expectedVersion));
      return this;
    }

    /** Requires a document to have a version. */
    public Builder depend(DocumentKey key, long version) {
      documentDepends.add(new DocumentVersion(key, version));
      return this;
    }

    /** Sets the request id. */
    public Builder requestId(@Nullable String id) {
      requestId = id;
      return this;
    }

    /** Sets whether to use an operator's right to change tasks of other owners. */
    public Builder override(boolean on) {
      override = on;
      return this;
    }

    /** The transaction. */
    public Transaction build() {
      return new Transaction(
          client,
          adds,
          updates,
          renewals,
          takings,
          deletes,
          depends,
          puts,
          documentDeletes,
          documentDepends,
          requestId,
          override);
    }
  }

  /** When a task becomes available: now, at a time, or after a while, all in store time. */
  public sealed interface When {
    /** At once. */
    record Now() implements When {}

    /**
     * At an absolute time.
     *
     * @param epochMillis milliseconds since the epoch, not negative; a past time means at once. 0
     *     means the store time of the transaction, the same as {@link Now}
     */
    record At(long epochMillis) implements When {}

    /**
     * Relative to the store time of the transaction.
     *
     * @param millis milliseconds after that time, not negative
     */
    record After(long millis) implements When {}

    /** At once. */
    static When now() {
      return new Now();
    }

    /** At {@code instant}; a past time means at once. */
    static When at(Instant instant) {
      return new At(instant.toEpochMilli());
    }

    /** {@code delay} after the store time of the transaction; not negative. */
    static When after(Duration delay) {
      return new After(delay.toMillis());
    }

    /** The resulting store time for a transaction at {@code nowMillis}. */
    default long resolve(long nowMillis) {
      return switch (this) {
        case Now() -> nowMillis;
        case At(long epochMillis) -> epochMillis == 0 ? nowMillis : epochMillis;
        case After(long millis) -> Math.addExact(nowMillis, millis);
      };
    }
  }
}
