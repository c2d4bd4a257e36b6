package io.millrace.cli.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of stores as users make them. */
class CopyCommandTest {
  private static final int LARGE_TASKS = 48;

  @TempDir private Path scratch = Path.of("");

  private String folder(String name) {
    return "file:" + scratch.resolve(name);
  }

  private static Shell.CommandResult copy(String from, String to, String... more) {
    String[] command = {"store", "copy", "--from", from, "--to", to};
    String[] whole = Arrays.copyOf(command, command.length + more.length);
    System.arraycopy(more, 0, whole, command.length, more.length);
    return Shell.run(whole);
  }

  @Test
  void a_store_of_a_server_at_work_moves_to_a_database_and_back() {
    String database = "jdbc:sqlite:" + scratch.resolve("stores.db");
    Path data = scratch.resolve("data");
    try (MillraceServer server =
        MillraceServer.start(
            Configuration.read(
                MillraceServer.SECTIONS,
                null,
                Map.of("server.port", "0", "store.data", data.toString())))) {
      String address = "http://127.0.0.1:" + server.port();
      assertThat(Shell.run("store", "add", "group", "first", "--server", address).code()).isZero();
      Shell.CommandResult copied = copy("file:" + data, database, "--to-set", "name=one");
      assertThat(copied.err()).isEmpty();
      assertThat(copied.out()).contains("with 1 tasks").contains("read back");
      assertThat(copy("file:" + data, database, "--to-set", "name=one").err())
          .contains("there is a store in " + database + " (store one) already", "--force replaces");
      assertThat(copy(database, "file:" + data, "--from-set", "name=one", "--force").err())
          .contains("in use by another process");
    }
    String backup = scratch.resolve("backup").toString();
    assertThat(
            Shell.run("store", "backup", backup, "--from", database, "--from-set", "name=one")
                .out())
        .contains("saved");
    assertThat(Shell.run("store", "verify", "--from", "backup:" + backup).out())
        .contains("1 tasks in 1 groups", "sound");
    assertThat(Shell.run("store", "restore", backup, "--to", database).out()).contains("restored");
    Shell.CommandResult verified = Shell.run("store", "verify", "--from", database);
    assertThat(verified.out()).contains("0 frames and 1 snapshots", "1 tasks in 1 groups", "sound");
    assertThat(copy(database, folder("back")).code()).isZero();
    assertThat(
            Shell.run("store", "list", "group", "--data", scratch.resolve("back").toString()).out())
        .contains("first");
    assertThat(Shell.run("store", "verify", "--from", database, "--from-set", "name=none").err())
        .contains("is gone");
  }

  @Test
  void what_is_not_a_place_is_named() {
    assertThat(copy("ftp://x", folder("a")).err()).contains("--from begins with 'backup:'");
    assertThat(copy("mongodb://x", folder("a")).err()).contains("no database");
    assertThat(copy(folder("none"), folder("a")).err()).contains("is not a folder");
    assertThat(copy("jdbc:sqlite:" + scratch + "/no.db", folder("a")).err())
        .contains("there is no store in jdbc:sqlite:");
    assertThat(Shell.run("store", "copy", "--to", folder("a")).err()).contains("--from is missing");
    assertThat(Shell.run("store", "restore", "--data", scratch.toString()).err())
        .contains("name the file of the backup");
    assertThat(copy(folder("none"), "jdbc:sqlite:x.db", "--to-set", "wrong=1").err())
        .contains("there is no key store.wrong");
    assertThat(scratch.resolve("a")).doesNotExist();
  }

  @Test
  void a_copy_that_is_killed_in_the_middle_is_refused_and_repeated() throws Exception {
    try (TaskStore store = TaskStore.open(StoreOptions.in(scratch.resolve("data")))) {
      byte[] large = new byte[1 << 20];
      for (int i = 0; i < LARGE_TASKS; i++) {
        large[0] = (byte) i;
        store
            .commit(Transaction.by(Owner.client(1)).add("group", Bytes.copyOf(large)).build())
            .done();
      }
    }
    String target = null;
    for (int attempt = 0; target == null; attempt++) {
      target = killed("copy-" + attempt);
    }
    String data = scratch.resolve(target).toString();
    for (String command : List.of("verify", "groups")) {
      assertThat(Shell.run("store", command, "--data", data).err()).contains("is incomplete");
    }
    assertThat(copy(folder("data"), folder(target)).err()).contains("that is not complete");
    assertThat(copy(folder("data"), folder(target), "--force").code()).isZero();
    assertThat(Shell.run("store", "verify", "--data", data).out())
        .contains(LARGE_TASKS + " tasks in 1 groups", "sound");
  }

  /** Kills a copy while it writes; null if it was faster. */
  private @Nullable String killed(String name) throws IOException {
    Path marker = scratch.resolve(name).resolve("incomplete");
    Program copy =
        Program.start(
            scratch.resolve("log"),
            List.of("store", "copy", "--from", folder("data"), "--to", folder(name)));
    while (!Files.exists(marker) && copy.isAlive()) {
      LockSupport.parkNanos(100_000);
    }
    copy.kill();
    return Files.exists(marker) ? name : null;
  }
}
