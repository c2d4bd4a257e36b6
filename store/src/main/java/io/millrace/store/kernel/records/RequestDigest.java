package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.When;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A request id with a digest of the command's content, which distinguishes a repeated request from
 * a changed one.
 *
 * @param id the id that the client chose, unique for its principal
 * @param high the first half of the digest
 * @param low the second half
 */
public record RequestDigest(String id, long high, long low) {
  /** The digest of a command with this request id. */
  public static RequestDigest of(Command command, String requestId) {
    RecordWriter writer = new RecordWriter();
    switch (command) {
      case Transaction transaction -> write(writer, transaction);
      case Claim claim -> write(writer, claim);
    }
    ByteBuffer digest = ByteBuffer.wrap(writer.sha256());
    return new RequestDigest(requestId, digest.getLong(), digest.getLong());
  }

  /** Whether both have the same content. */
  public boolean sameContent(RequestDigest other) {
    return high == other.high && low == other.low;
  }

  /** Writes every part in order, each list with its length, so that different contents differ. */
  private static void write(RecordWriter out, Transaction transaction) {
    out.writeByte(1);
    write(out, transaction.client());
    out.writeByte(transaction.override() ? 1 : 0);
    out.writeNumber(transaction.adds().size());
    transaction.adds().forEach(add -> write(out, add));
    out.writeNumber(transaction.updates().size());
    for (Transaction.Update update : transaction.updates()) {
      write(out, update.task());
      write(out, update.when());
      out.writeByte(update.data() == null ? 0 : 1);
      out.writeBytes(update.data() == null ? Bytes.EMPTY : update.data());
    }
    out.writeNumber(transaction.renewals().size());
    for (Transaction.Renewal renewal : transaction.renewals()) {
      write(out, renewal.task());
      write(out, renewal.leaseMillis(), renewal.revive());
    }
    write(out, transaction.deletes());
    write(out, transaction.depends());
    out.writeNumber(transaction.puts().size());
    for (Transaction.Put put : transaction.puts()) {
      write(out, put.key());
      out.writeLong(put.expectedVersion());
      out.writeByte(put.template() ? 1 : 0);
      out.writeBytes(put.body());
    }
    writeVersions(out, transaction.documentDeletes());
    writeVersions(out, transaction.documentDepends());
    // Last and only if there are any, so that digests of earlier versions remain valid.
    if (!transaction.takings().isEmpty()) {
      out.writeNumber(transaction.takings().size());
      transaction.takings().forEach(taking -> write(out, taking));
    }
  }

  /**
   * The sign of the lease, which is positive, is the flag: digests of earlier versions stay valid.
   */
  private static void write(RecordWriter out, long leaseMillis, boolean revive) {
    if (leaseMillis <= 0) {
      // Always refused, but must differ from a valid lease with the flag.
      out.writeLong(Long.MIN_VALUE);
    }
    out.writeLong(revive ? -leaseMillis : leaseMillis);
  }

  private static void write(RecordWriter out, Transaction.Taking taking) {
    write(out, taking.task());
    out.writeLong(taking.leaseMillis());
    out.writeByte(taking.localName() == null ? 0 : 1);
    out.writeText(taking.localName() == null ? "" : taking.localName());
  }

  private static void write(RecordWriter out, Transaction.Add add) {
    out.writeText(add.group());
    out.writeBytes(add.data());
    write(out, add.when());
    Task.Lane lane = add.lane();
    out.writeByte(
        (add.owned() ? 1 : 0) | (add.localName() == null ? 0 : 2) | (lane == null ? 0 : 4));
    out.writeText(add.localName() == null ? "" : add.localName());
    if (lane != null) {
      out.writeText(lane.key());
      out.writeLong(lane.priority());
    }
  }

  /** Writes everything except the wait: a client that repeats a claim may have less time left. */
  private static void write(RecordWriter out, Claim claim) {
    out.writeByte(2);
    write(out, claim.client());
    out.writeNumber(claim.groups().size());
    claim.groups().forEach(out::writeText);
    out.writeLong(claim.leaseMillis());
    out.writeLong(claim.count());
    out.writeText(claim.order().name());
    out.writeLong(claim.whileFewerThan());
    write(out, claim.depends());
  }

  private static void write(RecordWriter out, Owner owner) {
    out.writeText(owner.principal());
    out.writeLong(owner.client());
  }

  private static void write(RecordWriter out, List<TaskRef> refs) {
    out.writeNumber(refs.size());
    refs.forEach(ref -> write(out, ref));
  }

  private static void write(RecordWriter out, TaskRef ref) {
    out.writeLong(ref.id());
    out.writeLong(ref.origin());
  }

  private static void write(RecordWriter out, When when) {
    switch (when) {
      case When.Now() -> out.writeByte(0);
      case When.At(long epochMillis) -> {
        out.writeByte(1);
        out.writeLong(epochMillis);
      }
      case When.After(long millis) -> {
        out.writeByte(2);
        out.writeLong(millis);
      }
    }
  }

  private static void write(RecordWriter out, DocumentKey key) {
    out.writeText(key.collection());
    out.writeText(key.key());
  }

  private static void writeVersions(RecordWriter out, List<Transaction.DocumentVersion> versions) {
    out.writeNumber(versions.size());
    for (Transaction.DocumentVersion version : versions) {
      write(out, version.key());
      out.writeLong(version.version());
    }
  }
}
