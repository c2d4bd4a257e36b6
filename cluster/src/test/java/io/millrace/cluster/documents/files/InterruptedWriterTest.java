package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A process that makes a change is stopped before each operation on a file, while others change the
 * same document in every way. Then it continues or dies. Segments have three versions, so that the
 * ends of segments are tested too.
 */
final class InterruptedWriterTest {
  private static final String KEY = "partition/7-1";
  private static final String MINE = "{\"by\":\"the interrupted one\"}";
  private static final Layout.Names NAMES = new Layout.Names(new SplittableRandom(1)::nextLong, 3);

  private long looks;

  /** An operation on the document. */
  enum Action {
    MAKE,
    WRITE,
    DELETE,
    READ,
    LIST
  }

  /**
   * What the other writer does meanwhile: a number of versions, possibly a deletion, and possibly a
   * new document.
   */
  private enum OtherChanges {
    NOTHING(0, false, 0),
    ONE_VERSION(1, false, 0),
    MANY_VERSIONS(8, false, 0),
    AN_END(0, true, 0),
    ANOTHER_LIFE(0, true, 1),
    A_LONG_OTHER_LIFE(1, true, 9);

    final int versions;
    final boolean end;
    final int again;

    OtherChanges(int versions, boolean end, int again) {
      this.versions = versions;
      this.end = end;
      this.again = again;
    }
  }

  static Stream<Arguments> all() {
    return cases(Action.values());
  }

  static Stream<Arguments> changes() {
    return cases(Action.MAKE, Action.WRITE, Action.DELETE);
  }

  private static Stream<Arguments> cases(Action... actions) {
    return IntStream.range(0, 5)
        .boxed()
        .flatMap(versions ->
            Stream.of(actions)
                .filter(action -> versions > 0 || action == Action.MAKE || action == Action.LIST)
                .map(action -> Arguments.of(action, versions)));
  }

  @ParameterizedTest(name = "{0} at version {1}")
  @MethodSource("all")
  void a_writer_that_is_paused_at_any_call_does_no_harm(
      Action action, int versions, @TempDir(factory = MemoryFolder.class) Path home) {
    for (OtherChanges meanwhile : OtherChanges.values()) {
      for (int call = 1;
          new Run(home, action, versions, meanwhile, false).interrupted(call);
          call++) {
        assertThat(call).isLessThan(100);
      }
    }
  }

  @ParameterizedTest(name = "{0} at version {1}")
  @MethodSource("changes")
  void a_writer_that_dies_at_any_call_does_no_harm(
      Action action, int versions, @TempDir(factory = MemoryFolder.class) Path home) {
    for (OtherChanges meanwhile : OtherChanges.values()) {
      for (int call = 1;
          new Run(home, action, versions, meanwhile, true).interrupted(call);
          call++) {
        assertThat(call).isLessThan(100);
      }
    }
  }

  private FileDocuments open(Path home, Disk disk) {
    // Time passes so fast that discarded files can be removed at once.
    InstantSource clock = () -> Instant.ofEpochSecond(100L * ++looks);
    return FileDocuments.open(home, disk, clock, NAMES);
  }

  /** One operation, interrupted before one call. */
  private final class Run {
    private final Path home;
    private final Action action;
    private final int versions;
    private final OtherChanges meanwhile;
    private final boolean dies;
    private final FileDocuments documents;
    private final OtherWriter others;
    private Optional<VersionedDocument> seen = Optional.empty();
    private boolean happened;
    private boolean died;

    Run(Path home, Action action, int versions, OtherChanges meanwhile, boolean dies) {
      this.home = home;
      this.action = action;
      this.versions = versions;
      this.meanwhile = meanwhile;
      this.dies = dies;
      documents = open(home, new InterruptedDisk(() -> {}));
      others = new OtherWriter(documents);
    }

    /** Runs the operation; returns whether there was such a call. */
    boolean interrupted(int call) {
      for (int i = 0; i < versions; i++) {
        others.write();
      }
      InterruptedDisk disk = new InterruptedDisk(this::othersGoOn);
      Optional<VersionedDocument> result = Optional.empty();
      try (FileDocuments interrupted = open(home, disk)) {
        disk.interruptBefore(call);
        result = action(action, interrupted, others.version);
      } catch (InterruptedDisk.Killed _) {
        died = true;
      }
      try {
        judge(result);
        goesOn(home, documents, documents.get(KEY));
      } catch (AssertionError | IOException e) {
        throw new AssertionError(
            "%s after %d versions, stopped before call %d, meanwhile %s"
                .formatted(action, versions, call, meanwhile),
            e);
      }
      return happened;
    }

    private void othersGoOn() {
      happened = true;
      seen = documents.get(KEY);
      others.goOn(meanwhile);
      if (dies) {
        throw new InterruptedDisk.Killed();
      }
    }

    private void judge(Optional<VersionedDocument> result) {
      Optional<VersionedDocument> last = documents.get(KEY);
      documents.list("");
      assertThat(documents.get(KEY)).isEqualTo(last);
      if (isMine(seen) && meanwhile != OtherChanges.NOTHING) {
        assertThat(isMine(last)).as("what others replaced returns").isFalse();
      }
      if (died) {
        return;
      }
      switch (action) {
        case MAKE, WRITE -> {
          if (result.isPresent()) {
            // It took effect: it is the newest, or others have replaced it.
            assertThat(List.of(last, seen)).contains(result);
          } else {
            assertThat(isMine(seen) || isMine(last)).as("what was refused is there").isFalse();
            assertThat(last).isEqualTo(others.document());
          }
        }
        case DELETE -> {
          if (result.isEmpty()) {
            assertThat(last).isEqualTo(others.document());
          } else if (happened && seen.isEmpty()) {
            assertThat(last).isEqualTo(others.document());
          } else {
            assertThat(last).isEmpty();
          }
        }
        case READ, LIST -> {
          assertThat(last).isEqualTo(others.document());
          if (versions > 0 && !meanwhile.end) {
            int count = Integer.parseInt(result.orElseThrow().json().replaceAll("\\D", ""));
            assertThat(count).isGreaterThanOrEqualTo(versions - 1);
          }
        }
      }
    }
  }

  /** The resulting document: the new one, the deleted one, or the one read. */
  private static Optional<VersionedDocument> action(
      Action action, FileDocuments documents, Version expected) {
    return switch (action) {
      case MAKE -> documents.put(KEY, Version.NONE, MINE).map(InterruptedWriterTest::mine);
      case WRITE -> documents.put(KEY, expected, MINE).map(InterruptedWriterTest::mine);
      case DELETE ->
          documents.delete(KEY, expected) ? Optional.of(mine(expected)) : Optional.empty();
      case READ -> documents.get(KEY);
      case LIST -> documents.list("").stream().findFirst();
    };
  }

  private static VersionedDocument mine(Version version) {
    return new VersionedDocument(KEY, version, MINE);
  }

  private static boolean isMine(Optional<VersionedDocument> document) {
    return document.filter(found -> found.json().equals(MINE)).isPresent();
  }

  /**
   * Requires that all operations work as usual, and that nothing is left when everything is
   * deleted.
   */
  private static void goesOn(
      Path home, VersionedDocuments documents, Optional<VersionedDocument> last)
      throws IOException {
    Version version = last.map(VersionedDocument::version).orElse(Version.NONE);
    for (int i = 0; i < 4; i++) {
      String json = "{\"after\":" + i + "}";
      version = documents.put(KEY, version, json).orElseThrow();
      VersionedDocument expected = new VersionedDocument(KEY, version, json);
      assertThat(documents.get(KEY)).contains(expected);
      assertThat(documents.list("part")).containsExactly(expected);
    }
    assertThat(documents.put(KEY, Version.NONE, MINE)).isEmpty();
    assertThat(documents.delete(KEY, version)).isTrue();
    assertThat(documents.list("")).isEmpty();
    try (Stream<Path> left = Files.list(home.resolve("documents"))) {
      assertThat(left).isEmpty();
    }
  }

  /** Another writer, which reads the present state and changes it; it is never refused. */
  private static final class OtherWriter {
    private final VersionedDocuments documents;
    private int count;
    private Version version = Version.NONE;

    OtherWriter(VersionedDocuments documents) {
      this.documents = documents;
    }

    private void look() {
      version = documents.get(KEY).map(VersionedDocument::version).orElse(Version.NONE);
    }

    void write() {
      version = documents.put(KEY, version, "{\"count\":" + count++ + "}").orElseThrow();
    }

    void goOn(OtherChanges meanwhile) {
      look();
      for (int i = 0; i < meanwhile.versions; i++) {
        write();
      }
      if (meanwhile.end && !version.equals(Version.NONE)) {
        assertThat(documents.delete(KEY, version)).isTrue();
        version = Version.NONE;
      }
      for (int i = 0; i < meanwhile.again; i++) {
        write();
      }
    }

    Optional<VersionedDocument> document() {
      return version.equals(Version.NONE)
          ? Optional.empty()
          : Optional.of(new VersionedDocument(KEY, version, "{\"count\":" + (count - 1) + "}"));
    }
  }
}
