package io.millrace.processes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class NamedPipeTest {
  private final ProcessLauncher launcher = ProcessLauncher.create();

  @TempDir Path folder;

  @Test
  void programs_write_one_after_the_other_and_the_end_comes_when_none_can_any_more()
      throws Exception {
    try (NamedPipe pipe = launcher.pipe(folder.resolve("p"))) {
      CompletableFuture<String> read = read(pipe);
      assertThat(run(pipe, "seq 3")).isZero();
      assertThat(run(pipe, "seq 4 6")).isZero();
      assertThat(read).isNotDone();

      pipe.seal();

      assertThat(read.get()).isEqualTo("1\n2\n3\n4\n5\n6\n");
    }
  }

  @Test
  void what_is_more_than_a_pipe_holds_arrives_whole() throws Exception {
    try (NamedPipe pipe = launcher.pipe(folder.resolve("p"))) {
      CompletableFuture<String> read = read(pipe);
      assertThat(run(pipe, "seq 200000")).isZero();
      pipe.seal();

      assertThat(read.get()).endsWith("\n200000\n").hasSize(1_288_895);
    }
  }

  @Test
  void closing_ends_a_reading_that_waits() throws Exception {
    NamedPipe pipe = launcher.pipe(folder.resolve("p"));
    CompletableFuture<String> read = read(pipe);
    Process open = start(pipe, "echo here; exec sleep 60");
    try {
      pipe.seal();
      pipe.close();

      assertThat(read.get()).isIn("", "here\n");
    } finally {
      open.destroyForcibly().waitFor();
    }
  }

  @Test
  void only_its_owner_may_read_it() throws Exception {
    try (NamedPipe _ = launcher.pipe(folder.resolve("p"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("p"))))
          .isEqualTo("rw-------");
    }
  }

  @Test
  void what_cannot_be_made_is_named() {
    assertThatThrownBy(() -> launcher.pipe(folder.resolve("none").resolve("p")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the pipe cannot be made")
        .hasMessageContaining("none/p");
  }

  private static CompletableFuture<String> read(NamedPipe pipe) {
    CompletableFuture<String> read = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          pipe.copyTo(bytes::writeBytes);
          read.complete(bytes.toString(UTF_8));
        });
    return read;
  }

  private static int run(NamedPipe pipe, String command) throws Exception {
    return start(pipe, command).waitFor();
  }

  private static Process start(NamedPipe pipe, String command) throws IOException {
    return new ProcessBuilder("sh", "-c", command).redirectOutput(pipe.redirect()).start();
  }
}
