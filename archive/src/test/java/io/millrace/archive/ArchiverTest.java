package io.millrace.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.database.DatabaseAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How items move to the archive, whatever happens meanwhile. */
class ArchiverTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;

  private final Items items = new Items();
  private @Nullable Archive archive;
  private final Set<String> deleted = new HashSet<>();
  private int versions;

  @AfterEach
  void close() {
    if (archive != null) {
      archive.close();
    }
  }

  private Archiver archiver(Path file, @Nullable Duration keep) {
    if (archive != null) {
      archive.close();
    }
    Archive opened = Archive.at(DatabaseAddress.file(file));
    archive = opened;
    return new Archiver(opened, keep, List.of(items));
  }

  private Archiver archiver() {
    return archiver(folder.resolve("archive.db"), null);
  }

  private Set<String> archived() {
    Set<String> ids = new HashSet<>();
    ArchiveQuery query = ArchiveQuery.newest(ArchiveTable.JOBS, 10_000);
    Objects.requireNonNull(archive)
        .list(query)
        .forEach(row -> assertThat(ids.add(row.id())).isTrue());
    return ids;
  }

  /** Items with versions, all of which may leave; crashes as it is told. */
  private static final class Items implements ArchiveSource {
    final Map<String, Integer> live = new TreeMap<>();
    Map<String, Integer> due = new HashMap<>();
    final List<Integer> batches = new ArrayList<>();
    Runnable beforeRemoval = () -> {};
    Runnable afterRemoval = () -> {};

    @Override
    public ArchiveTable table() {
      return ArchiveTable.JOBS;
    }

    @Override
    public Due due(Instant now, int most) {
      batches.add(most);
      List<ArchiveRow> rows = new ArrayList<>();
      due = new HashMap<>();
      for (Map.Entry<String, Integer> item : live.entrySet()) {
        if (rows.size() < most && item.getValue() >= 0) {
          due.put(item.getKey(), item.getValue());
          rows.add(
              ArchiveContract.job(item.getKey(), NOW.toEpochMilli() - 1_000)
                  .put("failures", (long) item.getValue())
                  .build());
        }
      }
      return Due.of(rows, rows.size() == most ? now : now.plusSeconds(1));
    }

    @Override
    public Set<String> remove(List<String> ids) {
      beforeRemoval.run();
      Set<String> kept = new HashSet<>();
      for (String id : ids) {
        if (!live.remove(id, due.get(id))) {
          kept.add(id);
        }
      }
      afterRemoval.run();
      return kept;
    }

    @Override
    public Set<String> present(Collection<String> ids) {
      Set<String> present = new HashSet<>(ids);
      present.retainAll(live.keySet());
      return present;
    }
  }

  private static final class CrashException extends RuntimeException {}

  private static void crash() {
    throw new CrashException();
  }

  private static void run(Archiver archiver, Instant from) {
    Instant now = from;
    for (int i = 0; i < 100; i++) {
      Instant next = archiver.step(now);
      if (next.isAfter(now)) {
        return;
      }
      now = next;
    }
    throw new AssertionError("it does not come to rest");
  }

  @Test
  void items_move_in_batches_and_are_counted() {
    for (int i = 0; i < 2 * Archiver.BATCH + 1; i++) {
      items.live.put("j" + i, 1);
    }
    items.live.put("running", -1);
    Archiver archiver = archiver();
    run(archiver, NOW);
    assertThat(items.live).containsOnlyKeys("running");
    assertThat(archived()).hasSize(2 * Archiver.BATCH + 1);
    assertThat(archiver.archived(ArchiveTable.JOBS)).isEqualTo(2 * Archiver.BATCH + 1);
    assertThat(archiver.archived(ArchiveTable.TASKS)).isZero();
  }

  @Test
  void batches_grow_while_there_is_more_and_are_small_again_afterwards() {
    for (int i = 0; i < 200 + 400 + 600 + 600 + 5; i++) {
      items.live.put("j" + i, 1);
    }
    Archiver archiver = archiver();
    run(archiver, NOW);
    assertThat(items.batches).containsExactly(200, 400, 600, 600, 600);
    assertThat(archived()).hasSize(1_805);
    items.live.put("later", 1);
    run(archiver, NOW.plusSeconds(2));
    assertThat(items.batches.getLast()).isEqualTo(Archiver.BATCH);
  }

  @Test
  void an_item_that_changed_after_it_was_inserted_stays_in_the_store_alone() {
    items.live.putAll(Map.of("a", 1, "b", 1, "c", 1));
    items.beforeRemoval =
        () -> {
          items.live.put("b", -2);
          items.live.remove("c");
          items.beforeRemoval = () -> {};
        };
    run(archiver(), NOW);
    assertThat(items.live).containsOnlyKeys("b");
    assertThat(archived()).containsExactly("a");
  }

  @Test
  void while_the_archive_is_away_nothing_is_removed_and_attempts_get_rarer() throws Exception {
    items.live.put("a", 1);
    Path blocked = folder.resolve("blocked");
    Files.writeString(blocked, "in the way of a folder");
    Archiver archiver = archiver(blocked.resolve("archive.db"), null);
    assertThat(archiver.step(NOW)).isEqualTo(NOW.plusSeconds(1));
    assertThat(archiver.step(NOW.plusSeconds(1))).isEqualTo(NOW.plusSeconds(3));
    assertThat(items.live).containsOnlyKeys("a");
    assertThat(archiver.problem()).contains("archive.db");
    assertThat(archiver.failures()).isEqualTo(2);
    assertThat(archiver.lag(NOW.plusSeconds(2))).isEqualTo(Duration.ofSeconds(2));
    Files.delete(blocked);
    run(archiver, NOW.plusSeconds(3));
    assertThat(archiver.lag(NOW.plusSeconds(9))).isZero();
    assertThat(archiver.problem()).isNull();
    assertThat(items.live).isEmpty();
    assertThat(archived()).containsExactly("a");
  }

  @Test
  void rows_leave_the_archive_after_their_time() {
    items.live.put("a", 1);
    Archiver archiver = archiver(folder.resolve("archive.db"), Duration.ofHours(1));
    run(archiver, NOW);
    assertThat(archived()).containsExactly("a");
    run(archiver, NOW.plus(Duration.ofHours(2)));
    assertThat(archived()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void each_item_is_in_the_store_or_in_the_archive_whatever_crashes(long seed) {
    Random random = new Random(seed);
    Set<String> expected = new HashSet<>();
    Archiver archiver = archiver();
    Instant now = NOW;
    for (int round = 0; round < 150; round++) {
      // The clock may go back when the server starts again.
      now = now.plusMillis(random.nextInt(-200, 2_000));
      switch (random.nextInt(8)) {
        case 0 -> items.beforeRemoval = ArchiverTest::crash;
        case 1 -> items.afterRemoval = ArchiverTest::crash;
        case 2 -> items.beforeRemoval = () -> change(random, expected);
        case 3 -> archiver = archiver();
        default -> {
          for (int i = 0; i < random.nextInt(20); i++) {
            String id = "i" + round + "-" + i;
            items.live.put(id, version(random));
            expected.add(id);
          }
        }
      }
      change(random, expected);
      try {
        archiver.step(now);
      } catch (CrashException _) {
        if (random.nextBoolean()) {
          archiver = archiver();
        }
      }
      items.beforeRemoval = () -> {};
      items.afterRemoval = () -> {};
    }
    items.live.replaceAll((_, _) -> ++versions);
    run(archiver, now.plusSeconds(3_600));
    assertThat(items.live).isEmpty();
    // An item that was deleted after a crash between its insertion and its removal stays archived.
    Set<String> archived = archived();
    archived.removeAll(deleted);
    assertThat(archived).isEqualTo(expected);
  }

  /** A version that no item has had; of items that may not leave it is negative. */
  private int version(Random random) {
    versions++;
    return random.nextInt(4) == 0 ? -versions : versions;
  }

  /** Changes or deletes one of the items in the store. */
  private void change(Random random, Set<String> expected) {
    if (!items.live.isEmpty()) {
      String id = List.copyOf(items.live.keySet()).get(random.nextInt(items.live.size()));
      if (random.nextInt(3) == 0) {
        items.live.remove(id);
        expected.remove(id);
        deleted.add(id);
      } else {
        items.live.put(id, version(random));
      }
    }
  }
}
