package io.millrace.cluster.documents.elastic;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An engine's process. It ends when it is killed, and when the JVM that started it dies. */
final class SearchEngineProcess {
  /**
   * Its standard input is a pipe without a writer. When the pipe ends, so does the whole session;
   * when the program ends, the session does too.
   */
  private static final String WITH_US = "{ \"$@\"; kill -9 0; } & cat > /dev/null; kill -9 0";

  private static final Pattern ADDRESS =
      Pattern.compile(
          "AbstractHttpServerTransport\\].*publish_address \\{127\\.0\\.0\\.1:(\\d+)\\}");
  private static final int START_SECONDS = 180;
  private static final int LINES_KEPT = 60;

  private final Process process;
  private final CompletableFuture<Integer> started = new CompletableFuture<>();

  private SearchEngineProcess(ProcessBuilder command) throws IOException {
    List<String> whole = new ArrayList<>(List.of("setsid", "sh", "-c", WITH_US, "sh"));
    whole.addAll(command.command());
    process = command.command(whole).redirectErrorStream(true).start();
    Thread.ofVirtual().name("search-engine").start(this::follow);
  }

  /** Starts it and waits until it is ready. */
  static SearchEngineProcess start(ProcessBuilder command) throws IOException {
    SearchEngineProcess engine = new SearchEngineProcess(command);
    try {
      engine.started.get(START_SECONDS, TimeUnit.SECONDS);
      return engine;
    } catch (ExecutionException | TimeoutException e) {
      engine.kill();
      throw new AssertionError("the engine does not serve: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      engine.kill();
      throw new AssertionError(e);
    }
  }

  /** Its port. */
  int port() {
    return started.join();
  }

  private void follow() {
    Deque<String> last = new ArrayDeque<>();
    int port = 0;
    boolean recovered = false;
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        last.add(line);
        if (last.size() > LINES_KEPT) {
          last.remove();
        }
        Matcher matcher = ADDRESS.matcher(line);
        if (matcher.find()) {
          port = Integer.parseInt(matcher.group(1));
        }
        recovered |= line.contains("GatewayService") && line.contains("recovered [");
        if (recovered && port > 0) {
          started.complete(port);
        }
      }
    } catch (IOException e) {
      last.add(e.toString());
    }
    started.completeExceptionally(
        new AssertionError("it has ended; this was the last of it:\n" + String.join("\n", last)));
  }

  /** Kills it with SIGKILL, with all its processes. */
  void kill() {
    try {
      process.getOutputStream().close();
      process.waitFor(30, TimeUnit.SECONDS);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
