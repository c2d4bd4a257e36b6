package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Row;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.UnknownOutcomeException;
import io.millrace.work.Backoff;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends frames: one batch is under way, and what comes meanwhile is the next, mostly one frame
 * that grows. A batch whose outcome is unknown is sent again, the same bytes at the same numbers,
 * until the answer is definite or its deadline has passed. Also renews the lease when the store's
 * loop asks for it.
 */
final class SharedLeader implements Activity {
  private static final Logger LOG = LoggerFactory.getLogger(SharedJournal.class);
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int MOST_FRAMES = 32;
  private static final int MOST_BYTES = 8 << 20;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private record Pending(Frame frame, CompletableFuture<Void> done) {}

  /** What the head of the journal says about a batch. */
  private enum Verdict {
    WRITTEN,
    ABSENT,
    FENCED,
    /** The frame was collected since, and the database does not tell whose it was. */
    UNKNOWN
  }

  /** Frames that are written together. */
  private record Batch(
      List<Pending> frames, List<Row> rows, Chain before, Chain after, long deadlineNanos) {
    long writer() {
      return frames.getFirst().frame().writer();
    }
  }

  private final Environment environment;
  private final JournalLocation location;
  private final JournalHome home;
  private final long journalId;
  private final long renewNanos;

  /** By how much the wall clock may be set back before the lease is given up. */
  private final long setBackMillis;

  /** The renewals of the leader before, when this one found that it has ended. */
  private final long renewalsBefore;

  // For the writing thread.
  private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
  private Chain chain;
  private long totalBytes;
  private long epoch;
  private long writer;
  private @Nullable Batch batch;
  private boolean uncertain;
  private @Nullable IOException lastFailure;
  private @Nullable String announced;

  // Guarded by this.
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private boolean closing;
  private boolean renew;
  private @Nullable String address;
  private @Nullable JournalException failure;
  private Journal.Leader.@Nullable Listener listener;

  /** The time of the last sign that was sent; for the appending thread and the writing thread. */
  private volatile long sentNanos;

  private volatile long leaseUntilNanos;
  private volatile long leaseUntilWallMillis;

  /** By how much the wall clock was ahead of the monotonic one at the last sign. */
  private volatile long aheadMillis;

  /** Continues after the end of a journal. */
  SharedLeader(Environment environment, JournalLocation location, JournalHome home, Head head) {
    this.environment = environment;
    this.location = location;
    this.home = home;
    this.journalId = head.journalId();
    this.chain = head.chain();
    this.totalBytes = head.totalBytes();
    this.renewNanos = location.lease().toNanos() / 4;
    this.setBackMillis = location.lease().toMillis() / 20;
    this.renewalsBefore = head.renewals();
    this.sentNanos = environment.nanos();
    this.leaseUntilNanos = sentNanos;
  }

  /** Queues a frame; the caller signals the driver. */
  CompletableFuture<Void> add(Frame frame) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    JournalException refusal;
    synchronized (this) {
      if (failure == null && !closing) {
        queue.add(new Pending(frame, done));
        return done;
      }
      refusal = failure != null ? failure : new JournalException("the journal is closed");
    }
    done.completeExceptionally(refusal);
    return done;
  }

  /** Removes the frame that was added last, unless it is being written or will not be. */
  synchronized boolean takeBack(Frame frame) {
    Pending last = queue.peekLast();
    if (last == null || closing || last.frame().sequence() != frame.sequence()) {
      return false;
    }
    queue.removeLast();
    return true;
  }

  synchronized void listen(Journal.Leader.Listener added) {
    listener = added;
  }

  /** Announces an address once an epoch has begun; the caller signals the driver. */
  synchronized void announce(String its) {
    address = its;
  }

  /** Ends the activity once the queue is empty; the caller signals the driver. */
  synchronized void finish() {
    closing = true;
  }

  /** After how long a renewal is due, if nothing is appended; at most 0 if it is. */
  long renewalDueNanos() {
    return sentNanos + renewNanos - environment.nanos();
  }

  /**
   * Asks for a renewal, which waits for the append that is under way; the caller signals the
   * driver.
   *
   * @return the nanoseconds after which to ask again if there was no other sign
   */
  synchronized long askForRenewal() {
    renew = true;
    return renewNanos;
  }

  /** Whether no other leader can have begun yet. */
  boolean holdsLease() {
    // The monotonic clock stands still while a machine is suspended. The wall clock does not, but
    // may be set back meanwhile.
    long nanos = environment.nanos();
    long wallMillis = environment.wallMillis();
    return nanos - leaseUntilNanos < 0
        && wallMillis < leaseUntilWallMillis
        && wallMillis - nanos / NANOS_PER_MILLI > aheadMillis - setBackMillis;
  }

  @Override
  public long step() {
    try {
      while (true) {
        if (batch == null && !begin()) {
          if (isClosing()) {
            return close();
          }
          announce();
          return renewIfAsked();
        }
        long pause = write();
        if (pause > 0) {
          return pause;
        }
      }
    } catch (JournalException e) {
      fail(e);
    } catch (Throwable e) {
      // Errors too: every future must complete.
      fail(new JournalException("the journal failed: " + e, e));
    }
    return isClosing() ? close() : UNTIL_SIGNALLED;
  }

  @Override
  public void failed(Throwable thrown) {
    fail(new JournalException("the journal failed: " + thrown, thrown));
    close();
  }

  /** Takes the next batch from the queue; returns false if there is none. */
  private boolean begin() {
    List<Pending> frames = new ArrayList<>();
    synchronized (this) {
      long bytes = 0;
      while (!queue.isEmpty() && failure == null && frames.size() < MOST_FRAMES) {
        bytes += FrameCodec.sizeBytes(queue.getFirst().frame().payload().remaining());
        if (!frames.isEmpty() && bytes > MOST_BYTES) {
          break;
        }
        frames.add(queue.remove());
      }
    }
    if (frames.isEmpty()) {
      return false;
    }
    List<Row> rows = new ArrayList<>();
    Chain end = chain;
    long total = totalBytes;
    for (Pending pending : frames) {
      Frame frame = pending.frame();
      byte[] bytes = FrameCodec.encode(frame, journalId, end.checksum()).array();
      total += bytes.length;
      end = end.after(frame, FrameCodec.checksum(ByteBuffer.wrap(bytes), 0));
      rows.add(new Row(frame.sequence(), frame.position(), frame.timeMillis(), total, bytes));
    }
    long deadline = environment.nanos() + location.deadline().toNanos();
    batch = new Batch(frames, rows, chain, end, deadline);
    uncertain = false;
    lastFailure = null;
    return true;
  }

  /** Writes the batch; returns 0 if it is written, or the time after which to try again. */
  private long write() {
    Batch current = Objects.requireNonNull(batch);
    try {
      Verdict verdict = uncertain ? judge(current) : Verdict.ABSENT;
      if (verdict == Verdict.ABSENT) {
        Began began = began();
        uncertain = true;
        long renewals = epoch == 0 ? renewalsBefore : JournalHome.ANY;
        if (home.append(
            current.before(), renewals, current.after(), current.writer(), current.rows())) {
          extendLease(began);
          verdict = Verdict.WRITTEN;
        } else {
          verdict = judge(current);
        }
      }
      if (verdict == Verdict.UNKNOWN && lastFailure == null) {
        // Every answer so far said that it was not written.
        verdict = Verdict.FENCED;
      }
      return switch (verdict) {
        case WRITTEN -> {
          written(current);
          yield 0;
        }
        case ABSENT -> pause();
        case FENCED -> throw fenced();
        case UNKNOWN ->
            throw new UnknownOutcomeException(
                "frame "
                    + current.rows().getFirst().sequence()
                    + " is no longer kept by "
                    + location
                    + ", so it cannot be told who wrote it",
                lastFailure == null ? new IOException("no answer") : lastFailure);
      };
    } catch (IOException e) {
      lastFailure = e;
      if (environment.nanos() - current.deadlineNanos() >= 0 || isClosing()) {
        throw new UnknownOutcomeException(
            "no definite answer from "
                + location
                + " for frame "
                + current.rows().getFirst().sequence()
                + ": "
                + e.getMessage(),
            e);
      }
      if (!backoff.hasFailed()) {
        LOG.warn("an append to {} is repeated: {}", location, e.getMessage());
      }
      return pause();
    }
  }

  private long pause() {
    return backoff.next().toNanos();
  }

  private FencedException fenced() {
    return new FencedException("another server leads the store in " + location);
  }

  /** What has become of a batch that may have been written. */
  private Verdict judge(Batch current) throws IOException {
    Head head = home.head();
    if (head.chain().equals(current.before())) {
      return epoch == 0 && head.renewals() != renewalsBefore ? Verdict.FENCED : Verdict.ABSENT;
    }
    if (head.chain().equals(current.after()) && head.writer() == current.writer()) {
      return Verdict.WRITTEN;
    }
    Row first = current.rows().getFirst();
    if (head.journalId() != journalId || head.chain().sequence() < first.sequence()) {
      // Another journal, or one that went back: nothing of this leader counts there.
      return Verdict.FENCED;
    }
    if (first.sequence() < head.first()) {
      return Verdict.UNKNOWN;
    }
    List<Row> found = home.frames(first.sequence(), 1);
    if (found.isEmpty()) {
      return Verdict.UNKNOWN;
    }
    return found.getFirst().frame().equals(first.frame()) ? Verdict.WRITTEN : Verdict.FENCED;
  }

  private void written(Batch current) throws IOException {
    if (current.after().epoch() != epoch) {
      readBack(current);
      epoch = current.after().epoch();
      writer = current.writer();
    }
    chain = current.after();
    totalBytes = current.rows().getLast().totalBytes();
    batch = null;
    if (backoff.succeeded()) {
      LOG.info("appends to {} succeed again", location);
    }
    for (Pending pending : current.frames()) {
      pending.done().complete(null);
    }
  }

  /** The record of a new epoch is read back, and there must be no later one. */
  private void readBack(Batch current) throws IOException {
    Head head = home.head();
    Row first = current.rows().getFirst();
    List<Row> found = home.frames(first.sequence(), 1);
    if (!head.chain().equals(current.after())
        || head.writer() != current.writer()
        || found.isEmpty()
        || !found.getFirst().frame().equals(first.frame())) {
      throw fenced();
    }
  }

  /** Announces the address if that was not done yet; without success, at the next renewal. */
  private void announce() {
    String wanted;
    synchronized (this) {
      wanted = address;
    }
    if (wanted == null || wanted.equals(announced) || epoch == 0 || isFailed()) {
      return;
    }
    try {
      home.announce(epoch, wanted);
      announced = wanted;
    } catch (IOException e) {
      LOG.debug("the address of the leader could not be announced in {}", location, e);
    }
  }

  private long renewIfAsked() {
    synchronized (this) {
      if (!renew || failure != null || epoch == 0) {
        return UNTIL_SIGNALLED;
      }
      renew = false;
    }
    Began began = began();
    try {
      if (!home.renew(epoch, writer)) {
        throw fenced();
      }
      extendLease(began);
    } catch (IOException e) {
      // Answers wait until a later renewal or append succeeds.
      LOG.debug("the lease in {} could not be renewed", location, e);
    }
    return UNTIL_SIGNALLED;
  }

  /** When a sign was sent, by both clocks: one of them goes on while a machine is suspended. */
  private record Began(long nanos, long wallMillis) {
    /** By how much the wall clock is ahead of the monotonic one. */
    long aheadMillis() {
      return wallMillis - nanos / NANOS_PER_MILLI;
    }
  }

  private Began began() {
    Began began = new Began(environment.nanos(), environment.wallMillis());
    sentNanos = began.nanos();
    return began;
  }

  private void extendLease(Began since) {
    boolean held = holdsLease();
    long leaseNanos = location.lease().toNanos();
    aheadMillis = since.aheadMillis();
    leaseUntilWallMillis = since.wallMillis() + leaseNanos / NANOS_PER_MILLI;
    leaseUntilNanos = since.nanos() + leaseNanos;
    Journal.Leader.@Nullable Listener told;
    synchronized (this) {
      told = listener;
    }
    if (!held && told != null) {
      told.renewed();
    }
  }

  private void fail(JournalException cause) {
    List<Pending> lost = new ArrayList<>();
    JournalException known;
    Journal.Leader.@Nullable Listener told;
    synchronized (this) {
      if (failure == null) {
        failure = cause;
      }
      known = failure;
      lost.addAll(queue);
      queue.clear();
      told = listener;
    }
    Batch current = batch;
    batch = null;
    leaseUntilNanos = environment.nanos();
    if (current != null) {
      current.frames().forEach(pending -> pending.done().completeExceptionally(known));
    }
    lost.forEach(pending -> pending.done().completeExceptionally(known));
    if (told != null) {
      told.failed(known);
    }
  }

  private synchronized boolean isClosing() {
    return closing;
  }

  private synchronized boolean isFailed() {
    return failure != null;
  }

  /** Resigns; until that is written, standbys wait for the end of the lease. */
  private long close() {
    if (!isFailed() && epoch > 0) {
      try {
        home.resign(epoch, writer);
      } catch (IOException e) {
        if (holdsLease()) {
          LOG.debug("the resignation is written to {} again", location, e);
          return pause();
        }
        LOG.warn(
            "{} could not be told that this server ends, so the next one waits for the end of its"
                + " lease: {}",
            location,
            e.getMessage());
      }
    }
    home.close();
    return FINISHED;
  }
}
