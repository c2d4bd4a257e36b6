package io.millrace.journal.shared;

import io.millrace.journal.shared.BucketEntry.Boundary;
import io.millrace.journal.shared.BucketEntry.Lease;
import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.Chain;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a store in a {@link Bucket}, which can create an object if there is none, and
 * nothing else in one step.
 *
 * <pre>
 *   log/N, boundary/N  its {@link BucketLog}
 *   snapshots/S-U/N    chunk N of the snapshot after frame S, written as upload U
 *   lease              a sign of life of the leader; the only object that is replaced
 *
 *   append:     create log/N+1 --not created--> read back
 *   renew:      put lease, then read log/N+1 --a challenge--> create log/N+2, as a sign of life
 *   challenge:  create log/N+1, if the leader seems to be silent
 *   begin:      create log/N+1, if log/N is a challenge and nobody has answered for a lease
 * </pre>
 *
 * The lease is only a hint that spares challenges: a late request may put an old one there. A
 * leader that has read the log after a challenge has seen it.
 */
public final class BucketHome implements JournalHome {
  /** An odd number that no two signs of one leader are apart. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private static final String LEASE = "lease";
  private static final String SNAPSHOTS = "snapshots/";

  private final Bucket bucket;
  private final BucketLog log;
  private long renewals;
  private @Nullable String address;

  /** A journal in a bucket, which is closed with it. */
  public BucketHome(Bucket bucket) {
    this.bucket = bucket;
    this.log = new BucketLog(bucket);
  }

  @Override
  public synchronized void prepare(RandomGenerator random) throws IOException {
    bucket.prepare();
    log.prepare(random);
  }

  @Override
  public void check() throws IOException {
    bucket.check();
  }

  private Lease lease() throws IOException {
    byte[] content = bucket.get(LEASE);
    return content == null ? Lease.NONE : Lease.read(LEASE, content);
  }

  @Override
  public synchronized Head head() throws IOException {
    return head(log.last(), lease());
  }

  private Head head(BucketEntry last, Lease lease) {
    Head head = last.head();
    String where = lease.epoch() == head.chain().epoch() ? lease.address() : null;
    Head seen = head.withSigns(renewals(head, lease), head.resigned(), where);
    Boundary boundary = log.boundary();
    return boundary.journalId() == head.journalId() && boundary.first() > head.first()
        ? seen.withFirst(boundary.first(), boundary.firstPosition())
        : seen;
  }

  /**
   * A number that differs if either differs. Their sum would not: a late request may put an older
   * sign there while the log goes on.
   */
  private static long renewals(Head head, Lease lease) {
    return head.renewals() * SPREAD + lease.sign();
  }

  // ---- frames

  @Override
  public synchronized boolean append(
      Chain before, long renewals, Chain after, long writer, List<Row> rows) throws IOException {
    BucketEntry last = log.lastKnown();
    Chain end = last.head().chain();
    if (end.sequence() != before.sequence()
        || end.checksum() != before.checksum()
        || end.epoch() != before.epoch()
        || (renewals != ANY && !mayBegin(last, renewals))) {
      return false;
    }
    Head head = last.head().withEnd(after, writer, rows.getLast().totalBytes());
    return log.create(last.next(head, rows));
  }

  /** Whether nobody leads who has read the log lately, given a sign of life of before. */
  private boolean mayBegin(BucketEntry last, long renewals) throws IOException {
    if (!last.challenge() && !last.head().resigned()) {
      // Nobody has asked; whoever finds this entry has to wait for an answer.
      boolean _ = log.create(last.nextChallenge());
      return false;
    }
    return renewals(last.head(), lease()) == renewals;
  }

  @Override
  public synchronized List<Row> frames(long from, int maxBytes) throws IOException {
    return log.frames(from, maxBytes);
  }

  @Override
  public synchronized @Nullable FrameMark mark(long sequence) throws IOException {
    return log.mark(sequence);
  }

  // ---- the lead

  private static boolean leads(BucketEntry last, long epoch, long writer) {
    return last.head().chain().epoch() == epoch && last.head().writer() == writer;
  }

  @Override
  public synchronized boolean renew(long epoch, long writer) throws IOException {
    bucket.put(LEASE, new Lease(epoch, writer + ++renewals, address).content());
    while (true) {
      BucketEntry last = log.last();
      if (!leads(last, epoch, writer)) {
        return false;
      }
      if (!last.challenge() || log.create(last.next(last.signed(false), List.of()))) {
        return true;
      }
    }
  }

  @Override
  public synchronized void resign(long epoch, long writer) throws IOException {
    BucketEntry last = log.last();
    while (leads(last, epoch, writer) && !log.create(last.next(last.signed(true), List.of()))) {
      last = log.last();
    }
  }

  @Override
  public synchronized void challenge(Head silent) throws IOException {
    BucketEntry last = log.last();
    if (!last.challenge() && last.head().chain().equals(silent.chain())) {
      boolean _ = log.create(last.nextChallenge());
    }
  }

  @Override
  public synchronized void announce(long epoch, String announced) throws IOException {
    address = announced;
    bucket.put(LEASE, new Lease(epoch, log.last().head().writer() + ++renewals, address).content());
  }

  // ---- snapshots

  private static String chunkPrefix(Snapshot snapshot) {
    return SNAPSHOTS
        + BucketLog.digits(snapshot.sequence())
        + "-%016x/".formatted(snapshot.upload());
  }

  @Override
  public void putChunk(Snapshot snapshot, long number, byte[] bytes) throws IOException {
    bucket.put(chunkPrefix(snapshot) + BucketLog.digits(number), bytes);
  }

  @Override
  public byte @Nullable [] chunk(Snapshot snapshot, long number) throws IOException {
    return bucket.get(chunkPrefix(snapshot) + BucketLog.digits(number));
  }

  @Override
  public synchronized boolean publish(Snapshot snapshot, long epoch, long writer)
      throws IOException {
    while (true) {
      BucketEntry last = log.last();
      Head head = last.head();
      if (!leads(last, epoch, writer) || head.snapshot().sequence() >= snapshot.sequence()) {
        return false;
      }
      if (log.create(last.next(head.withSnapshot(snapshot), List.of()))) {
        return true;
      }
    }
  }

  @Override
  public void deleteSnapshot(Snapshot snapshot) throws IOException {
    BucketLog.delete(bucket, chunkPrefix(snapshot), "");
  }

  @Override
  public List<Snapshot> snapshots() throws IOException {
    Set<Snapshot> found = new LinkedHashSet<>();
    String after = "";
    while (true) {
      List<String> keys = bucket.list(SNAPSHOTS, after, BucketLog.PAGE);
      for (String key : keys) {
        int dash = key.indexOf('-');
        found.add(
            new Snapshot(
                Long.parseLong(key, SNAPSHOTS.length(), dash, 10),
                Long.parseUnsignedLong(key, dash + 1, key.indexOf('/', dash), 16)));
      }
      if (keys.size() < BucketLog.PAGE) {
        return List.copyOf(found);
      }
      after = keys.getLast();
    }
  }

  // ---- what is removed

  @Override
  public synchronized boolean keepFrom(long first, long firstPosition, long epoch, long writer)
      throws IOException {
    BucketEntry last = log.last();
    return leads(last, epoch, writer)
        && first > head(last, Lease.NONE).first()
        && log.keepFrom(first, firstPosition, last);
  }

  /** Deletes all entries below the boundary, which have these frames. */
  @Override
  public synchronized void deleteFrames(long from, long to) throws IOException {
    log.deleteRemoved();
  }

  @Override
  public synchronized void clear() throws IOException {
    log.deleteRemoved();
    BucketLog.delete(bucket, SNAPSHOTS, "");
  }

  // ---- restores

  @Override
  public synchronized boolean beginRestore(Head before, long upload, long journalId)
      throws IOException {
    BucketEntry last = log.last();
    if (!head(last, lease()).equals(before)) {
      return false;
    }
    Head marked =
        new Head(
            journalId,
            new Chain(0, 0, before.chain().epoch(), 0, 0),
            upload,
            0,
            1,
            0,
            Snapshot.unfinished(upload),
            Snapshot.NONE,
            last.head().renewals() + 1,
            false,
            null);
    if (!log.create(last.next(marked, List.of()))) {
      return false;
    }
    log.removeThrough(last, journalId);
    return true;
  }

  @Override
  public synchronized boolean endRestore(long upload, Snapshot snapshot, Chain chain)
      throws IOException {
    BucketEntry last = log.last();
    Head head = last.head();
    if (!head.snapshot().equals(Snapshot.unfinished(upload))) {
      return false;
    }
    Head restored =
        new Head(
            head.journalId(),
            chain,
            head.writer(),
            0,
            chain.sequence() + 1,
            chain.position(),
            snapshot,
            Snapshot.NONE,
            head.renewals(),
            true,
            null);
    return log.create(last.next(restored, List.of()));
  }

  @Override
  public void close() {
    bucket.close();
  }
}
