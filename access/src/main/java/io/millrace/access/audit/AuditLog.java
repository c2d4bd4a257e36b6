package io.millrace.access.audit;

import static io.millrace.access.audit.AuditDocuments.COLLECTION;
import static io.millrace.access.audit.AuditDocuments.keyAt;
import static io.millrace.access.audit.AuditDocuments.millisOf;

import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.work.StoreSession;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit log in a store. Entries come in three ways: as a part of the transaction that they are
 * about ({@link #put}), on their own ({@link #write}), or counted in memory ({@link #note}) and
 * written by {@link #step} once a second, which also removes what is too old or too much. Safe for
 * use by threads.
 *
 * <p>A document holds one entry or up to 200; its key begins with the time at which it was written,
 * so that keys are in order of time.
 */
public final class AuditLog {
  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

  private static final Duration FLUSH_INTERVAL = Duration.ofSeconds(1);
  private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);

  /** How many origins are counted apart within a second; beyond, they are merged. */
  private static final int MAX_ORIGINS = 1_000;

  /**
   * How many of them may be of one principal, or of callers that were refused without being known.
   */
  private static final int MAX_ORIGINS_OF_ONE = 100;

  /** By how much the clock of another server, which writes another shard, may be ahead. */
  private static final Duration CLOCK_MARGIN = Duration.ofMinutes(1);

  private static final int MAX_ENTRIES_PER_DOCUMENT = 200;
  private static final int MAX_UNWRITTEN = 20_000;
  private static final int MAX_ID = 256;
  private static final int PAGE = 500;

  /** How many documents one call reads before it returns what it has found. */
  private static final int MAX_SCANNED = 20_000;

  /** The share of the largest size that is left after a sweep. */
  private static final double AFTER_SWEEP = 0.9;

  private static final Owner SELF = Owner.client(1);
  private final TaskStore store;

  /** What is read: the same, or all shards, one of which the store is. */
  private final TaskStore all;

  private final InstantSource clock;
  private final Settings settings;
  private final String run;
  private final AtomicLong sequence = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong(-1);

  /** The latest time of a document, so that keys grow even if the clock is set back. */
  private final AtomicLong latestMillis = new AtomicLong();

  private final Tallies tallies;
  private final Tallies unknownTallies;
  private final List<AuditEntry> unwritten = new ArrayList<>();

  /** Less than at first if the store takes no such long documents. */
  private int entriesPerDocument = MAX_ENTRIES_PER_DOCUMENT;

  /** How many of them the store did not take when it was last asked. */
  private volatile int waiting;

  private volatile long dropped;
  private Instant nextSweep = Instant.MIN;

  /**
   * How much is kept.
   *
   * @param keep how long an entry is kept
   * @param maxBytes how much memory all entries may take, about; the oldest are removed
   */
  public record Settings(Duration keep, long maxBytes) {}

  /**
   * An entry with its id, by which entries are ordered.
   *
   * @param id its id
   */
  public record Found(String id, AuditEntry entry) {}

  /**
   * Some entries.
   *
   * @param next the id from which to go on; null if there is no more
   */
  public record Page(List<Found> entries, @Nullable String next) {}

  /**
   * The log in a store.
   *
   * @param random draws a part of the keys of this run; used under its own lock
   */
  public AuditLog(TaskStore store, InstantSource clock, RandomGenerator random, Settings settings) {
    this(store, store, clock, random, settings);
  }

  /**
   * The same in one shard of a store.
   *
   * @param all the store, all of whose logs are read as one
   */
  public AuditLog(
      TaskStore store,
      TaskStore all,
      InstantSource clock,
      RandomGenerator random,
      Settings settings) {
    this.store = store;
    this.all = all;
    this.clock = clock;
    this.settings = settings;
    this.tallies = new Tallies(clock, MAX_ORIGINS, MAX_ORIGINS_OF_ONE);
    this.unknownTallies = new Tallies(clock, MAX_ORIGINS_OF_ONE, MAX_ORIGINS_OF_ONE);
    synchronized (random) {
      this.run = Integer.toString(random.nextInt(36 * 36 * 36, 36 * 36 * 36 * 36), 36);
    }
  }

  /** The time by the clock of the log. */
  public Instant now() {
    return clock.instant();
  }

  /**
   * Counts changes. Those of one origin within a second become one entry, and so do those that
   * repeat it within a minute or more.
   *
   * @param apart whether each id becomes an entry of its own
   */
  public void note(
      Origin origin, long count, @Nullable String first, @Nullable String last, boolean apart) {
    tallies.add(origin, count, shortened(first), shortened(last), apart);
  }

  /** Counts a refusal of a caller that is not known. Many of a second are merged sooner. */
  public void noteUnknown(Origin origin) {
    unknownTallies.add(origin, 1, null, null, false);
  }

  private static @Nullable String shortened(@Nullable String id) {
    return id == null || id.length() <= MAX_ID ? id : id.substring(0, MAX_ID);
  }

  /**
   * A document with an entry, to be put in the transaction that the entry is about. Call {@link
   * #written} if that is committed.
   */
  public Transaction.Put put(AuditEntry entry) {
    return put(List.of(entry));
  }

  private Transaction.Put put(List<AuditEntry> entries) {
    return new Transaction.Put(
        new DocumentKey(COLLECTION, newKey()),
        DocumentVersion.ANY,
        AuditDocuments.write(entries),
        false);
  }

  private String newKey() {
    return keyAt(latestMillis.accumulateAndGet(clock.millis(), Math::max))
        + "-%07d-%s".formatted(sequence.incrementAndGet() % 10_000_000, run);
  }

  /** Counts a document that was written. */
  public void written(Transaction.Put put) {
    long size = AuditDocuments.bytes(put.key(), put.body());
    bytes.getAndUpdate(known -> known < 0 ? known : known + size);
  }

  /** Writes an entry; if that is not possible now, it is tried again once a second. */
  public void write(AuditEntry entry) {
    if (commit(List.of(entry)) != Written.YES) {
      waiting = keep(List.of(entry));
    }
  }

  /** Whether entries were written. */
  private enum Written {
    YES,
    NOT_NOW,
    TOO_LARGE
  }

  private Written commit(List<AuditEntry> entries) {
    Transaction.Put put = put(entries);
    try {
      return switch (store.commit(Transaction.by(SELF).put(put).build())) {
        case Outcome.Done _ -> {
          written(put);
          yield Written.YES;
        }
        case Outcome.Refused refused ->
            refused.reasons().stream().allMatch(reason -> reason.kind() == Reason.Kind.FULL)
                ? Written.NOT_NOW
                : Written.TOO_LARGE;
      };
    } catch (StoreClosedException e) {
      throw e;
    } catch (StoreException e) {
      LOG.debug("entries of the audit log cannot be written now", e);
      return Written.NOT_NOW;
    }
  }

  /** Returns how many there are now. */
  private synchronized int keep(List<AuditEntry> entries) {
    unwritten.addAll(entries);
    int surplus = unwritten.size() - MAX_UNWRITTEN;
    if (surplus > 0) {
      unwritten.subList(0, surplus).clear();
      if (dropped == 0) {
        LOG.warn("the store takes no entries of the audit log; the oldest are lost");
      }
      dropped = dropped + surplus;
    }
    return unwritten.size();
  }

  /** How many entries wait since the store does not take them now; 0 if all is well. */
  public int waiting() {
    return waiting;
  }

  /** How many entries were lost, because the store did not take them for too long. */
  public long dropped() {
    return dropped;
  }

  /**
   * Writes what was counted, and removes entries that are too old or too many: a {@link
   * io.millrace.work.Step}.
   *
   * @return when it is to be called again
   */
  public Instant step(Instant now) {
    flush(false);
    if (!now.isBefore(nextSweep)) {
      sweep(now);
      nextSweep = now.plus(SWEEP_INTERVAL);
    }
    return now.plus(FLUSH_INTERVAL);
  }

  /** Writes all that was counted so far. */
  public void flush() {
    flush(true);
  }

  private synchronized void flush(boolean all) {
    int _ =
        keep(
            Stream.of(tallies, unknownTallies)
                .flatMap(counted -> counted.take(all).stream())
                .sorted(Comparator.comparing(AuditEntry::until))
                .toList());
    while (!unwritten.isEmpty()) {
      List<AuditEntry> part = unwritten.subList(0, Math.min(entriesPerDocument, unwritten.size()));
      switch (commit(List.copyOf(part))) {
        case YES -> part.clear();
        case NOT_NOW -> {
          waiting = unwritten.size();
          return;
        }
        case TOO_LARGE -> {
          if (part.size() == 1) {
            part.clear();
            dropped = dropped + 1;
          }
          entriesPerDocument = Math.max(1, entriesPerDocument / 2);
        }
      }
    }
    waiting = 0;
  }

  /** Removes what is too old, and the oldest entries if there is too much. */
  private void sweep(Instant now) {
    if (bytes.get() < 0) {
      long sum = 0;
      for (Document document : StoreSession.pages(store, COLLECTION, "", "")) {
        sum += AuditDocuments.bytes(document.key(), document.body());
        latestMillis.accumulateAndGet(millisOf(document.key().key()) + 1, Math::max);
      }
      bytes.set(sum);
    }
    String oldest = keyAt(now.minus(settings.keep()).toEpochMilli());
    long surplus =
        bytes.get() > settings.maxBytes()
            ? bytes.get() - (long) (AFTER_SWEEP * settings.maxBytes())
            : 0;
    while (true) {
      Transaction.Builder removal = Transaction.by(SELF);
      int count = 0;
      long removed = 0;
      for (Document document :
          store.documents(new DocumentQuery(COLLECTION, "", "", PAGE)).value()) {
        if (document.key().key().compareTo(oldest) >= 0 && removed >= surplus) {
          break;
        }
        removal.delete(document.key(), document.version());
        removed += AuditDocuments.bytes(document.key(), document.body());
        count++;
      }
      if (count == 0 || !(store.commit(removal.build()) instanceof Outcome.Done)) {
        return;
      }
      bytes.addAndGet(-removed);
      surplus = Math.max(0, surplus - removed);
      if (count < PAGE) {
        return;
      }
    }
  }

  /**
   * The newest entries, newest first.
   *
   * @param from entries of this time and later, or until then
   * @param to entries before this time
   * @param before only entries with smaller ids; null for all
   * @param wanted which entries
   * @param limit at most so many; fewer may be found although there are more, see {@link Page#next}
   */
  public Page newest(
      Instant from, Instant to, @Nullable String before, Predicate<AuditEntry> wanted, int limit) {
    List<Found> found = new ArrayList<>();
    long floor = Math.max(millis(from), oldestMillis());
    long end =
        before == null
            ? Math.max(clock.millis() + CLOCK_MARGIN.toMillis(), latestMillis.get()) + 1
            : millisOf(before) + 1;
    long width = SWEEP_INTERVAL.toMillis();
    int scanned = 0;
    while (end > floor) {
      long begin = Math.max(floor, end - width);
      String last = keyAt(end);
      List<Document> documents =
          all.documents(new DocumentQuery(COLLECTION, "", keyAt(begin), PAGE)).value();
      boolean crowded =
          documents.size() == PAGE && documents.getLast().key().key().compareTo(last) < 0;
      if (crowded && end - begin > 1) {
        width = Math.max(1, (end - begin) / 8);
        continue;
      }
      if (crowded) {
        // All of one millisecond.
        documents = all.documents(new DocumentQuery(COLLECTION, keyAt(begin), "", 0)).value();
      }
      documents =
          documents.stream().filter(document -> document.key().key().compareTo(last) < 0).toList();
      for (Document document : documents.reversed()) {
        for (Found each : AuditDocuments.read(document).reversed()) {
          if (before != null && each.id().compareTo(before) >= 0) {
            continue;
          }
          if (isWithin(each.entry(), from, to) && wanted.test(each.entry())) {
            if (found.size() == limit) {
              return new Page(found, found.getLast().id());
            }
            found.add(each);
          }
        }
      }
      scanned += documents.size();
      end = begin;
      if (scanned > MAX_SCANNED && end > floor) {
        return new Page(found, keyAt(end));
      }
      width = documents.size() < PAGE / 8 ? width * 4 : width;
    }
    return new Page(found, null);
  }

  /**
   * The entries after one, oldest first.
   *
   * @param from entries of this time and later, or until then
   * @param to entries before this time
   * @param after only entries with larger ids; null for all
   * @param wanted which entries
   * @param limit at most so many; fewer may be found although there are more, see {@link Page#next}
   */
  public Page oldest(
      Instant from, Instant to, @Nullable String after, Predicate<AuditEntry> wanted, int limit) {
    List<Found> found = new ArrayList<>();
    String begin = keyAt(millis(from));
    if (after != null) {
      // The document of that entry may hold more of them.
      String same = after.contains(".") ? after.substring(0, after.lastIndexOf('.')) : after;
      begin = same.compareTo(begin) > 0 ? same.substring(0, same.length() - 1) : begin;
    }
    int scanned = 0;
    for (Document document : StoreSession.pages(all, COLLECTION, "", begin)) {
      for (Found each : AuditDocuments.read(document)) {
        if (after != null && each.id().compareTo(after) <= 0) {
          continue;
        }
        if (isWithin(each.entry(), from, to) && wanted.test(each.entry())) {
          if (found.size() == limit) {
            return new Page(found, found.getLast().id());
          }
          found.add(each);
        }
      }
      if (++scanned > MAX_SCANNED) {
        return new Page(found, document.key().key() + ".999");
      }
    }
    return new Page(found, null);
  }

  private static boolean isWithin(AuditEntry entry, Instant from, Instant to) {
    return !entry.until().isBefore(from) && entry.time().isBefore(to);
  }

  private long oldestMillis() {
    List<Document> first = all.documents(new DocumentQuery(COLLECTION, "", "", 1)).value();
    return first.isEmpty() ? Long.MAX_VALUE : millisOf(first.getFirst().key().key());
  }

  private static long millis(Instant time) {
    return time.isBefore(Instant.EPOCH) ? 0 : time.toEpochMilli();
  }
}
