package io.millrace.access.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.access.audit.AuditEntry.Filter;
import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditEntry.Result;
import io.millrace.access.audit.AuditLog.Found;
import io.millrace.access.audit.AuditLog.Page;
import io.millrace.access.audit.AuditLog.Settings;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The audit log in a real store. */
final class AuditLogTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Settings MUCH = new Settings(Duration.ofDays(365), 1L << 30);

  private final AtomicReference<Instant> time = new AtomicReference<>(BEGIN);
  private final Random random = new Random(17);
  @TempDir private Path folder;
  private TaskStore store;
  private AuditLog log;

  @BeforeEach
  void open() {
    store = TaskStore.open(StoreOptions.in(folder));
    log = log(MUCH);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private AuditLog log(Settings settings) {
    return new AuditLog(store, time::get, random, settings);
  }

  private void pass(Duration span) {
    time.set(time.get().plus(span));
  }

  private static Origin origin(String principal, String action, Result result) {
    return new Origin(
        principal, null, "127.0.0.1", "POST /x", action, "queues", "mail", result, 200);
  }

  private static Origin job(String principal) {
    return origin(principal, "job.submit", Result.DONE);
  }

  private List<AuditEntry> all() {
    return log.oldest(Instant.EPOCH, Instant.MAX, null, _ -> true, 1_000_000).entries().stream()
        .map(Found::entry)
        .toList();
  }

  @Test
  void what_is_alike_within_a_second_is_one_entry() {
    log.note(job("ann"), 2, "1", "2", false);
    log.note(job("ann"), 1, "3", "3", false);
    log.note(job("bob"), 1, "4", "4", false);
    var _ = log.step(time.get());
    pass(Duration.ofSeconds(1));
    log.note(job("ann"), 1, "5", "5", false);
    var _ = log.step(time.get());

    assertThat(all())
        .containsExactlyInAnyOrder(
            new AuditEntry(BEGIN, job("ann"), 3, "1", "3"),
            new AuditEntry(BEGIN, job("bob"), 1, "4", "4"),
            new AuditEntry(BEGIN.plusSeconds(1), job("ann"), 1, "5", "5"));
  }

  @Test
  void changes_that_are_noted_apart_have_an_entry_each() {
    log.note(job("ann"), 1, "1", "1", true);
    log.note(job("ann"), 1, "2", "2", true);
    log.flush();
    assertThat(all()).extracting(AuditEntry::first).containsExactlyInAnyOrder("1", "2");
  }

  private static Origin heartbeat(String principal) {
    return origin(principal, "store.update", Result.DONE);
  }

  /** The named nodes send a heartbeat each second. */
  private void beat(Duration span, String... nodes) {
    for (long second = 0; second < span.toSeconds(); second++) {
      for (String node : nodes) {
        log.note(heartbeat("ann"), 1, node, node, false);
      }
      step();
    }
  }

  private void step() {
    var _ = log.step(time.get());
    pass(Duration.ofSeconds(1));
  }

  /** Nothing happens for so long. */
  private void idle(Duration span) {
    for (long second = 0; second < span.toSeconds(); second++) {
      step();
    }
  }

  private AuditEntry repeats(String node, int begin, int count) {
    return new AuditEntry(
        BEGIN.plusSeconds(begin),
        BEGIN.plusSeconds(begin + count - 1),
        heartbeat("ann"),
        count,
        node,
        node);
  }

  @Test
  void repeats_of_a_change_are_counted_for_ever_longer_and_their_end_is_told() {
    beat(Duration.ofMinutes(4), "n1");
    assertThat(all())
        .containsExactly(repeats("n1", 0, 1), repeats("n1", 1, 61), repeats("n1", 62, 121));
    idle(Tallies.SILENCE);
    assertThat(all()).hasSize(4).last().isEqualTo(repeats("n1", 183, 57));

    // That run is over: the next change is written at once again.
    beat(Duration.ofSeconds(1), "n1");
    assertThat(all()).hasSize(5).last().extracting(AuditEntry::count).isEqualTo(1L);
  }

  @Test
  void a_node_that_sends_a_heartbeat_each_second_adds_an_entry_an_hour() {
    beat(Duration.ofHours(6), "n1");
    assertThat(all()).hasSizeLessThan(13);
    int before = all().size();
    beat(Duration.ofHours(6), "n1");
    assertThat(all()).hasSize(before + 6);
    log.flush();
    assertThat(all().stream().mapToLong(AuditEntry::count).sum()).isEqualTo(12 * 3600);
  }

  @Test
  void nodes_with_one_key_are_told_apart() {
    beat(Duration.ofMinutes(5), "n1", "n2", "n3", "n4");
    log.flush();
    // At first all of a second are one entry, from the first to the last.
    List<AuditEntry> entries = all();
    assertThat(entries).hasSizeLessThan(20);
    for (String node : List.of("n2", "n3")) {
      assertThat(entries)
          .filteredOn(entry -> node.equals(entry.first()) && node.equals(entry.last()))
          .isNotEmpty();
    }
    assertThat(entries.stream().mapToLong(AuditEntry::count).sum()).isEqualTo(4 * 300);
  }

  @Test
  void what_is_no_repeat_is_written_within_a_second_beside_heartbeats() {
    beat(Duration.ofMinutes(10), "n1");
    int before = all().size();
    log.note(heartbeat("ann"), 1, "n2", "n2", false);
    log.note(heartbeat("eve"), 1, "n1", "n1", false);
    log.note(heartbeat("ann"), 2, "n1", "n3", false);
    log.note(heartbeat("ann"), 1, null, null, false);
    log.note(origin("ann", "store.update", Result.REFUSED), 1, "n1", "n1", false);
    log.note(heartbeat("ann"), 1, "n1", "n1", true);
    beat(Duration.ofSeconds(1), "n1");
    List<AuditEntry> added = all().subList(before, all().size());
    assertThat(added).hasSize(4);
    assertThat(added.stream().mapToLong(AuditEntry::count).sum()).isEqualTo(7);
  }

  @Test
  void changes_that_are_noted_apart_or_without_a_name_are_no_repeats() {
    for (int i = 0; i < 10; i++) {
      log.note(job("ann"), 1, "1", "1", true);
      log.note(job("bob"), 1, null, null, false);
      step();
    }
    assertThat(all()).hasSize(20);
  }

  @Test
  void a_refusal_that_comes_again_and_again_is_counted() {
    for (int i = 0; i < 600; i++) {
      log.note(origin("ann", "read", Result.REFUSED), 1, null, null, false);
      log.noteUnknown(origin("eve", "sign-in", Result.REFUSED));
      step();
    }
    assertThat(all()).hasSizeLessThan(10);
    log.flush();
    assertThat(all().stream().mapToLong(AuditEntry::count).sum()).isEqualTo(1_200);
  }

  @Test
  void a_run_is_found_at_all_times_that_it_covers() {
    beat(Duration.ofMinutes(4), "n1");
    Instant within = BEGIN.plusSeconds(100);
    for (Page page :
        List.of(
            log.newest(within, within.plusSeconds(1), null, _ -> true, 10),
            log.oldest(within, within.plusSeconds(1), null, _ -> true, 10))) {
      assertThat(page.entries()).extracting(Found::entry).containsExactly(repeats("n1", 62, 121));
    }
  }

  @Test
  void runs_go_on_beside_more_changes_than_are_remembered() {
    beat(Duration.ofMinutes(2), "n1");
    int before = all().size();
    for (int i = 0; i < 20; i++) {
      for (int n = 0; n < 900; n++) {
        log.note(job("p" + n), 1, i + "-" + n, i + "-" + n, false);
      }
      beat(Duration.ofSeconds(1), "n1");
    }
    assertThat(all()).hasSize(before + 20 * 900);
  }

  @Test
  void an_entry_of_a_transaction_is_there_if_and_only_if_the_transaction_is() {
    AuditEntry entry = new AuditEntry(BEGIN, job("ann"), 1, "1", "1");
    Transaction.Builder refused = Transaction.by(Owner.client(1)).put(log.put(entry));
    refused.depend(new io.millrace.store.DocumentKey("none", "none"), 1);
    assertThat(store.commit(refused.build())).isInstanceOf(Outcome.Refused.class);
    assertThat(all()).isEmpty();
    assertThat(store.commit(Transaction.by(Owner.client(1)).put(log.put(entry)).build()))
        .isInstanceOf(Outcome.Done.class);
    assertThat(all()).containsExactly(entry);
  }

  @Test
  void many_origins_of_one_second_are_merged_and_none_is_lost() {
    int many = 5_000;
    for (int i = 0; i < many; i++) {
      log.noteUnknown(
          new Origin(
              "u" + i,
              null,
              "10.0." + i / 250 + "." + i % 250,
              "GET /p" + i,
              "sign-in",
              null,
              "",
              Result.REFUSED,
              401));
      log.note(job("p" + i), 1, "1", "1", true);
    }
    log.flush();
    List<AuditEntry> entries = all();
    assertThat(entries).hasSizeLessThan(2_500);
    for (String action : List.of("sign-in", "job.submit")) {
      assertThat(
              entries.stream()
                  .filter(entry -> entry.origin().action().equals(action))
                  .mapToLong(AuditEntry::count)
                  .sum())
          .isEqualTo(many);
    }
  }

  @Test
  void a_principal_with_many_scopes_has_a_hundred_entries_a_second_and_one_of_the_rest() {
    for (int second = 0; second < 2; second++) {
      for (int i = 0; i < 500; i++) {
        log.note(
            new Origin(
                "ann", "k", "::1", "POST /x", "task.add", "groups", "g" + i, Result.DONE, 200),
            1,
            null,
            null,
            false);
      }
      log.note(job("bob"), 1, "1", "1", false);
      int before = all().size();
      log.flush();
      List<AuditEntry> entries = all();
      entries = entries.subList(before, entries.size());
      assertThat(entries.stream().filter(each -> each.origin().principal().equals("ann")))
          .hasSize(101)
          .anyMatch(each -> each.count() == 400 && each.origin().address().equals("several"));
      assertThat(entries).anyMatch(each -> each.origin().equals(job("bob")));
      pass(Duration.ofSeconds(1));
    }
  }

  @Test
  void documents_are_shorter_if_the_store_takes_no_long_ones() {
    store.close();
    StoreOptions.Limits small =
        new StoreOptions.Limits(
            50, 200_000, 5_000, 512, 128, 20, 10, 20, 10, 1_000, 1L << 20, 10_000, 8L << 20,
            1L << 20, 8L << 20);
    store = TaskStore.open(StoreOptions.in(folder).withLimits(small));
    log = log(MUCH);
    for (int i = 0; i < 200; i++) {
      log.note(job("ann"), 1, "thing " + i, null, true);
    }
    log.flush();
    assertThat(all()).hasSize(200);
    assertThat(log.waiting()).isZero();
    assertThat(log.dropped()).isZero();
  }

  @Test
  void nothing_is_lost_or_counted_twice_while_it_is_written() throws Exception {
    int each = 20_000;
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      Future<?> writer =
          threads.submit(() -> {
            while (!over.get()) {
              log.flush();
            }
          });
      List<Future<?>> noting = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        noting.add(
            threads.submit(() -> {
              for (int i = 0; i < each; i++) {
                log.note(job("p" + i % 3), 1, null, null, false);
              }
            }));
      }
      for (Future<?> done : noting) {
        done.get();
      }
      over.set(true);
      writer.get();
    }
    log.flush();
    assertThat(all().stream().mapToLong(AuditEntry::count).sum()).isEqualTo(3L * each);
  }

  /** Random entries at random times, read in pages of random size, as from a list. */
  @Test
  void pages_in_both_orders_have_each_wanted_entry_once() {
    for (int round = 0; round < 20; round++) {
      Random dice = new Random(round);
      List<AuditEntry> written = new ArrayList<>(all());
      for (int i = dice.nextInt(60); i > 0; i--) {
        pass(Duration.ofMillis(dice.nextInt(4) == 0 ? dice.nextInt(10_000_000) : dice.nextInt(2)));
        int count = 1 + dice.nextInt(4);
        for (int n = 0; n < count; n++) {
          log.note(
              origin("p" + dice.nextInt(3), "job.submit", Result.DONE), 1, i + "-" + n, null, true);
        }
        log.flush();
      }
      written = all();
      Filter filter =
          new Filter(
              dice.nextBoolean() ? "p1" : null,
              null,
              null,
              dice.nextBoolean() ? "job" : null,
              null,
              null,
              null);
      Instant from =
          dice.nextBoolean() ? Instant.EPOCH : BEGIN.plusMillis(dice.nextInt(20_000_000));
      Instant to =
          dice.nextBoolean() ? Instant.MAX : time.get().minusMillis(dice.nextInt(9_999_999));
      List<AuditEntry> expected =
          written.stream()
              .filter(entry ->
                  filter.matches(entry)
                      && !entry.time().isBefore(from)
                      && entry.time().isBefore(to))
              .toList();
      int limit = 1 + dice.nextInt(7);
      assertThat(pages(true, from, to, filter, limit)).isEqualTo(expected.reversed());
      assertThat(pages(false, from, to, filter, limit)).isEqualTo(expected);
    }
  }

  private List<AuditEntry> pages(
      boolean newest, Instant from, Instant to, Filter filter, int limit) {
    List<AuditEntry> found = new ArrayList<>();
    String next = null;
    do {
      Page page =
          newest
              ? log.newest(from, to, next, filter::matches, limit)
              : log.oldest(from, to, next, filter::matches, limit);
      assertThat(page.entries()).hasSizeLessThanOrEqualTo(limit);
      page.entries().forEach(each -> found.add(each.entry()));
      next = page.next();
    } while (next != null);
    return found;
  }

  @Test
  void a_crowded_millisecond_is_read_in_pages_too() {
    for (int i = 0; i < 603; i++) {
      log.write(new AuditEntry(BEGIN, job("ann"), 1, Integer.toString(i), null));
    }
    List<AuditEntry> found = pages(true, Instant.EPOCH, Instant.MAX, Filter.ALL, 100);
    assertThat(found).hasSize(603);
    assertThat(found.getFirst().first()).isEqualTo("602");
  }

  @Test
  void entries_keep_their_order_if_the_clock_is_set_back_also_after_a_restart() {
    log.write(new AuditEntry(time.get(), job("ann"), 1, "1", null));
    time.set(BEGIN.minus(Duration.ofHours(2)));
    log.write(new AuditEntry(time.get(), job("ann"), 1, "2", null));
    log = log(MUCH);
    var _ = log.step(time.get());
    log.write(new AuditEntry(time.get(), job("ann"), 1, "3", null));
    assertThat(pages(false, Instant.EPOCH, Instant.MAX, Filter.ALL, 2))
        .extracting(AuditEntry::first)
        .containsExactly("1", "2", "3");
    assertThat(pages(true, Instant.EPOCH, Instant.MAX, Filter.ALL, 2))
        .extracting(AuditEntry::first)
        .containsExactly("3", "2", "1");
  }

  @Test
  void a_filter_finds_by_every_field() {
    log.note(
        new Origin(
            "ann", "k1", "10.0.0.1", "POST /q", "queue.create", "queues", "mail", Result.DONE, 201),
        1,
        "7",
        "7",
        false);
    log.note(
        new Origin(
            "bob",
            null,
            "10.0.0.2",
            "POST /t",
            "task.submit",
            "queues",
            "sms",
            Result.REFUSED,
            400),
        5,
        "10",
        "14",
        false);
    log.flush();
    assertThat(found("ann", null, null, null, null, null, null)).containsExactly("ann");
    assertThat(found(null, "k1", null, null, null, null, null)).containsExactly("ann");
    assertThat(found(null, null, "10.0.0.2", null, null, null, null)).containsExactly("bob");
    assertThat(found(null, null, null, "task", null, null, null)).containsExactly("bob");
    assertThat(found(null, null, null, null, "queue.create", null, null)).containsExactly("ann");
    assertThat(found(null, null, null, null, null, Result.REFUSED, null)).containsExactly("bob");
    assertThat(found(null, null, null, null, null, null, "sms")).containsExactly("bob");
    assertThat(found(null, null, null, null, null, null, "12")).containsExactly("bob");
    assertThat(found(null, null, null, null, null, null, "7")).containsExactly("ann");
    assertThat(found(null, null, null, null, null, null, "15")).isEmpty();
    assertThat(found("ann", null, null, "task", null, null, null)).isEmpty();
  }

  private List<String> found(
      @Nullable String principal,
      @Nullable String key,
      @Nullable String address,
      @Nullable String kind,
      @Nullable String action,
      @Nullable Result result,
      @Nullable String id) {
    Filter filter = new Filter(principal, key, address, kind, action, result, id);
    return pages(false, Instant.EPOCH, Instant.MAX, filter, 10).stream()
        .map(entry -> entry.origin().principal())
        .toList();
  }

  @Test
  void entries_that_are_too_old_are_removed() {
    log = log(new Settings(Duration.ofHours(1), 1L << 30));
    for (int i = 0; i < 600; i++) {
      log.write(new AuditEntry(time.get(), job("ann"), 1, Integer.toString(i), null));
    }
    pass(Duration.ofMinutes(30));
    log.write(new AuditEntry(time.get(), job("ann"), 1, "last", null));
    var _ = log.step(time.get());
    assertThat(all()).hasSize(601);
    pass(Duration.ofMinutes(31));
    var _ = log.step(time.get());
    assertThat(all()).extracting(AuditEntry::first).containsExactly("last");
  }

  @Test
  void the_oldest_entries_are_removed_if_there_is_too_much_also_after_a_restart() {
    long maxBytes = 70_000;
    for (int start = 0; start < 2; start++) {
      log = log(new Settings(Duration.ofDays(1), maxBytes));
      for (int i = 0; i < 500; i++) {
        log.write(new AuditEntry(time.get(), job("ann"), 1, "x".repeat(50) + i, null));
      }
      pass(Duration.ofMinutes(2));
      var _ = log.step(time.get());
      List<AuditEntry> kept = all();
      assertThat(kept).hasSizeBetween(50, 400);
      assertThat(kept.getLast().first()).endsWith("x499");
    }
  }
}
