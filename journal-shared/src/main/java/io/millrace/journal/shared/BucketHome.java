package io.millrace.journal.shared;

import io.millrace.journal.shared.BucketEntry.Boundary;
import io.millrace.journal.shared.BucketEntry.Lease;
import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
 *   log/N              entry N: frames, and the head of the journal after them. N has no gaps
 *   boundary/N         the Nth time that entries were removed: the first one that is kept. Never
 *                      deleted
 *   snapshots/S-U/N    chunk N of the snapshot after frame S, written as upload U
 *   lease              a sign of life of the leader; the only object that is replaced
 *
 *   append:     create log/N+1 --exists--> read back
 *                    | created
 *               read the next boundary --N+1 is below--> it was removed and created again: nothing
 *                    | is kept
 *                 written
 *   renew:      put lease, then read log/N+1 --a challenge--> create log/N+2, as a sign of life
 *   challenge:  create log/N+1, if the leader seems to be silent
 *   begin:      create log/N+1, if log/N is a challenge and nobody has answered for a lease
 * </pre>
 *
 * Creating fences a deposed leader only while the entry exists; the boundary does afterwards. It
 * moves before anything is deleted. The lease is only a hint that spares challenges: a late request
 * may put an old one there. A leader that has read the log after a challenge has seen it.
 */
public final class BucketHome implements JournalHome {
  private static final int READ_AHEAD = 16;
  private static final int PAGE = 1_000;
  private static final int RECENT_BYTES = 4 << 20;

  /** An odd number that no two signs of one leader are apart. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private static final String LEASE = "lease";
  private static final String LOG = "log/";
  private static final String SNAPSHOTS = "snapshots/";

  private final Bucket bucket;

  /** Entries that were read, so that they are not read again at once. */
  private final LinkedHashMap<Long, BucketEntry> recent = new LinkedHashMap<>();

  private long recentBytes;
  private @Nullable BucketEntry tail;
  private Boundary boundary = Boundary.NONE;
  private long renewals;
  private @Nullable String address;

  /** A journal in a bucket, which is closed with it. */
  public BucketHome(Bucket bucket) {
    this.bucket = bucket;
  }

  @Override
  public synchronized void prepare(RandomGenerator random) throws IOException {
    bucket.prepare();
    if (lastBoundary().number() == 0 && bucket.get(logKey(1)) == null) {
      BucketEntry first = BucketEntry.first(random.nextLong());
      boolean _ = bucket.create(logKey(1), first.content());
    }
  }

  @Override
  public void check() throws IOException {
    bucket.check();
  }

  // ---- the end of the log

  /** The last entry, which nobody had continued when this was called. */
  private BucketEntry refresh() throws IOException {
    BucketEntry last = tail;
    while (true) {
      if (last == null) {
        last = locate();
      }
      BucketEntry next = entry(last.number() + 1);
      if (next != null) {
        last = next;
        continue;
      }
      // Below the boundary, entries are missing, or were created after their removal.
      if (lastBoundary().entry() <= last.number()) {
        tail = last;
        return last;
      }
      last = null;
    }
  }

  /** The last entry, found by halving, since the entries after the boundary have no gaps. */
  private BucketEntry locate() throws IOException {
    recent.clear();
    recentBytes = 0;
    long present = lastBoundary().entry();
    long step = 1;
    while (entry(present + step) != null) {
      present += step;
      step *= 2;
    }
    for (long absent = present + step; present + 1 < absent; ) {
      long middle = (present + absent) >>> 1;
      if (entry(middle) == null) {
        absent = middle;
      } else {
        present = middle;
      }
    }
    BucketEntry found = entry(present);
    if (found != null) {
      return found;
    }
    if (lastBoundary().entry() > present) {
      return locate();
    }
    throw new DamagedJournalException(logKey(present), 0, "the object is missing");
  }

  private Boundary lastBoundary() throws IOException {
    if (boundary.number() == 0) {
      long step = 1;
      while (true) {
        byte[] later = bucket.get(boundaryKey(boundary.number() + step));
        if (later != null) {
          boundary = Boundary.read(boundaryKey(boundary.number() + step), later);
          step *= 2;
        } else if (step == 1) {
          return boundary;
        } else {
          step /= 2;
        }
      }
    }
    while (true) {
      String key = boundaryKey(boundary.number() + 1);
      byte[] next = bucket.get(key);
      if (next == null) {
        return boundary;
      }
      boundary = Boundary.read(key, next);
    }
  }

  private @Nullable BucketEntry entry(long number) throws IOException {
    BucketEntry known = recent.get(number);
    if (known != null) {
      return known;
    }
    byte[] content = bucket.get(logKey(number));
    return content == null ? null : keep(BucketEntry.read(logKey(number), number, content));
  }

  private BucketEntry keep(BucketEntry entry) {
    if (recent.putIfAbsent(entry.number(), entry) == null) {
      recentBytes += entry.bytes().capacity();
      while (recentBytes > RECENT_BYTES && recent.size() > 1) {
        recentBytes -= recent.pollFirstEntry().getValue().bytes().capacity();
      }
    }
    return entry;
  }

  private static String logKey(long number) {
    return LOG + digits(number);
  }

  private static String boundaryKey(long number) {
    return "boundary/" + digits(number);
  }

  /** A number as keys have it, in the order of numbers. */
  private static String digits(long number) {
    return "%020d".formatted(number);
  }

  private Lease lease() throws IOException {
    byte[] content = bucket.get(LEASE);
    return content == null ? Lease.NONE : Lease.read(LEASE, content);
  }

  @Override
  public synchronized Head head() throws IOException {
    return head(refresh(), lease());
  }

  private Head head(BucketEntry last, Lease lease) {
    Head head = last.head();
    String where = lease.epoch() == head.chain().epoch() ? lease.address() : null;
    Head seen = head.withSigns(renewals(head, lease), head.resigned(), where);
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
    BucketEntry last = tail == null ? refresh() : tail;
    Chain end = last.head().chain();
    if (end.sequence() != before.sequence()
        || end.checksum() != before.checksum()
        || end.epoch() != before.epoch()
        || (renewals != ANY && !mayBegin(last, renewals))) {
      return false;
    }
    Head head = last.head().withEnd(after, writer, rows.getLast().totalBytes());
    return create(last.next(head, rows));
  }

  /** Whether nobody leads who has read the log lately, given a sign of life of before. */
  private boolean mayBegin(BucketEntry last, long renewals) throws IOException {
    if (!last.challenge() && !last.head().resigned()) {
      // Nobody has asked; whoever finds this entry has to wait for an answer.
      boolean _ = create(last.nextChallenge());
      return false;
    }
    return renewals(last.head(), lease()) == renewals;
  }

  /** Adds an entry to the log; returns false if another one is there, or was. */
  private boolean create(BucketEntry entry) throws IOException {
    if (!bucket.create(logKey(entry.number()), entry.content())
        || lastBoundary().entry() > entry.number()) {
      return false;
    }
    tail = keep(entry);
    return true;
  }

  @Override
  public synchronized List<Row> frames(long from, int maxBytes) throws IOException {
    BucketEntry last = tail == null || tail.end() < from ? refresh() : tail;
    BucketEntry found = entryOf(from, last);
    List<Row> rows = new ArrayList<>();
    long bytes = 0;
    for (long next = found == null ? Long.MAX_VALUE : found.number();
        next <= last.number() && bytes < maxBytes; ) {
      List<BucketEntry> read = entries(next, Math.min(last.number(), next + READ_AHEAD - 1));
      if (read.isEmpty()) {
        break;
      }
      for (BucketEntry entry : read) {
        for (Row row : entry.rows(logKey(entry.number()))) {
          if (row.sequence() >= from && (bytes < maxBytes || rows.isEmpty())) {
            rows.add(row);
            bytes += row.frame().remaining();
          }
        }
      }
      next += read.size();
    }
    return rows;
  }

  /** The entries with these numbers, or those before the first one that is missing. */
  private List<BucketEntry> entries(long from, long to) throws IOException {
    List<BucketEntry> entries = new ArrayList<>();
    BucketEntry known = recent.get(from);
    if (known != null) {
      entries.add(known);
      return entries;
    }
    List<String> keys = new ArrayList<>();
    for (long number = from; number <= to; number++) {
      keys.add(logKey(number));
    }
    for (byte[] content : bucket.getAll(keys)) {
      if (content == null) {
        break;
      }
      long number = from + entries.size();
      entries.add(BucketEntry.read(logKey(number), number, content));
    }
    return entries;
  }

  /** The entry that has a frame; null if it is not kept, or not there yet. */
  private @Nullable BucketEntry entryOf(long sequence, BucketEntry last) throws IOException {
    while (sequence <= last.end()) {
      long first = boundary.entry();
      BucketEntry found = search(sequence, first, last.number());
      if (found != null) {
        return sequence <= found.end() - found.frames() ? null : found;
      }
      if (lastBoundary().entry() == first) {
        return null;
      }
      // Entries were removed meanwhile; that of the frame may be there.
    }
    return null;
  }

  /** The first entry whose end is not before a frame; null if one on the way is missing. */
  private @Nullable BucketEntry search(long sequence, long from, long to) throws IOException {
    long low = from;
    long high = to;
    while (low < high) {
      long middle = (low + high) >>> 1;
      BucketEntry entry = entry(middle);
      if (entry == null) {
        return null;
      }
      if (entry.end() < sequence) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return entry(low);
  }

  @Override
  public synchronized @Nullable FrameMark mark(long sequence) throws IOException {
    BucketEntry last = tail == null || tail.end() < sequence ? refresh() : tail;
    BucketEntry found = entryOf(sequence, last);
    if (found == null) {
      return null;
    }
    for (Row row : found.rows(logKey(found.number()))) {
      if (row.sequence() == sequence) {
        return new FrameMark(row.position(), row.timeMillis(), row.totalBytes());
      }
    }
    return null;
  }

  // ---- the lead

  private static boolean leads(BucketEntry last, long epoch, long writer) {
    return last.head().chain().epoch() == epoch && last.head().writer() == writer;
  }

  @Override
  public synchronized boolean renew(long epoch, long writer) throws IOException {
    bucket.put(LEASE, new Lease(epoch, writer + ++renewals, address).content());
    while (true) {
      BucketEntry last = refresh();
      if (!leads(last, epoch, writer)) {
        return false;
      }
      if (!last.challenge() || create(last.next(last.signed(false), List.of()))) {
        return true;
      }
    }
  }

  @Override
  public synchronized void resign(long epoch, long writer) throws IOException {
    BucketEntry last = refresh();
    while (leads(last, epoch, writer) && !create(last.next(last.signed(true), List.of()))) {
      last = refresh();
    }
  }

  @Override
  public synchronized void challenge(Head silent) throws IOException {
    BucketEntry last = refresh();
    if (!last.challenge() && last.head().chain().equals(silent.chain())) {
      boolean _ = create(last.nextChallenge());
    }
  }

  @Override
  public synchronized void announce(long epoch, String announced) throws IOException {
    address = announced;
    bucket.put(LEASE, new Lease(epoch, refresh().head().writer() + ++renewals, address).content());
  }

  // ---- snapshots

  private static String chunkPrefix(Snapshot snapshot) {
    return SNAPSHOTS + digits(snapshot.sequence()) + "-%016x/".formatted(snapshot.upload());
  }

  @Override
  public void putChunk(Snapshot snapshot, long number, byte[] bytes) throws IOException {
    bucket.put(chunkPrefix(snapshot) + digits(number), bytes);
  }

  @Override
  public byte @Nullable [] chunk(Snapshot snapshot, long number) throws IOException {
    return bucket.get(chunkPrefix(snapshot) + digits(number));
  }

  @Override
  public synchronized boolean publish(Snapshot snapshot, long epoch, long writer)
      throws IOException {
    while (true) {
      BucketEntry last = refresh();
      Head head = last.head();
      if (!leads(last, epoch, writer) || head.snapshot().sequence() >= snapshot.sequence()) {
        return false;
      }
      if (create(last.next(head.withSnapshot(snapshot), List.of()))) {
        return true;
      }
    }
  }

  @Override
  public void deleteSnapshot(Snapshot snapshot) throws IOException {
    deleteAll(chunkPrefix(snapshot), "");
  }

  /** Deletes what begins with a prefix and comes before {@code end}, if that is not empty. */
  private void deleteAll(String prefix, String end) throws IOException {
    while (true) {
      List<String> keys =
          bucket.list(prefix, "", PAGE).stream()
              .filter(key -> end.isEmpty() || key.compareTo(end) < 0)
              .toList();
      if (!keys.isEmpty()) {
        bucket.delete(keys);
      }
      if (keys.size() < PAGE) {
        return;
      }
    }
  }

  @Override
  public List<Snapshot> snapshots() throws IOException {
    Set<Snapshot> found = new LinkedHashSet<>();
    String after = "";
    while (true) {
      List<String> keys = bucket.list(SNAPSHOTS, after, PAGE);
      for (String key : keys) {
        int dash = key.indexOf('-');
        found.add(
            new Snapshot(
                Long.parseLong(key, SNAPSHOTS.length(), dash, 10),
                Long.parseUnsignedLong(key, dash + 1, key.indexOf('/', dash), 16)));
      }
      if (keys.size() < PAGE) {
        return List.copyOf(found);
      }
      after = keys.getLast();
    }
  }

  // ---- what is removed

  @Override
  public synchronized boolean keepFrom(long first, long firstPosition, long epoch, long writer)
      throws IOException {
    BucketEntry last = refresh();
    Head head = head(last, Lease.NONE);
    if (!leads(last, epoch, writer) || first <= head.first()) {
      return false;
    }
    BucketEntry kept = entryOf(first, last);
    long entry = kept == null ? last.number() : kept.number();
    return move(new Boundary(boundary.number() + 1, entry, head.journalId(), first, firstPosition));
  }

  private boolean move(Boundary next) throws IOException {
    boolean moved = bucket.create(boundaryKey(next.number()), next.content());
    if (moved) {
      boundary = next;
    }
    return moved;
  }

  /** Deletes all entries below the boundary, which have these frames. */
  @Override
  public synchronized void deleteFrames(long from, long to) throws IOException {
    deleteAll(LOG, logKey(lastBoundary().entry()));
  }

  @Override
  public synchronized void clear() throws IOException {
    deleteAll(LOG, logKey(lastBoundary().entry()));
    deleteAll(SNAPSHOTS, "");
  }

  // ---- restores

  @Override
  public synchronized boolean beginRestore(Head before, long upload, long journalId)
      throws IOException {
    BucketEntry last = refresh();
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
    if (!create(last.next(marked, List.of()))) {
      return false;
    }
    while (lastBoundary().entry() <= last.number()) {
      boolean _ = move(new Boundary(boundary.number() + 1, last.number() + 1, journalId, 1, 0));
    }
    return true;
  }

  @Override
  public synchronized boolean endRestore(long upload, Snapshot snapshot, Chain chain)
      throws IOException {
    BucketEntry last = refresh();
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
    return create(last.next(restored, List.of()));
  }

  @Override
  public void close() {
    bucket.close();
  }
}
