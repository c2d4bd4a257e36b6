package io.millrace.cli.versions;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.cli.versions.Recording.Command;
import io.millrace.cli.versions.Recording.Exchange;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes the recording of a version: runs its commands against its server and keeps what passes.
 *
 * <p>Arguments: the {@code millrace} of the version, which is built; the file to write.
 */
final class Recorder {
  private static final Set<String> NOT_KEPT =
      Set.of(
          "host",
          "content-length",
          "connection",
          "transfer-encoding",
          "upgrade",
          "http2-settings",
          "date");

  /** A name before a command stands for the first number or id that it prints. */
  private static final String SCRIPT =
      """
      : queues create mail --plugin shell --threads 2
      : queues list
      : queues set mail --threads 3
      : queues show mail
      task: tasks submit mail command=true
      : tasks submit mail command=true --delay 1h
      : tasks search --queue mail
      : tasks search --queue mail --param command=true --count
      : tasks show {task}
      : tasks block {task}
      : tasks requeue {task}
      : tasks cancel {task}
      : config set maxthreads=4
      : config show
      : nodes list
      : jobs submit payload.txt --key letter-1
      : jobs list
      : jobs show letter-1
      : jobs cancel letter-1
      : jobs retry letter-1
      : jobs batches
      : jobs cancel letter-1
      : jobs delete letter-1
      : workers
      node: graph add --name first --shell echo\u00a0hello
      : graph wait {node}
      : graph show
      : graph output {node}
      : graph export
      later: graph add --after {node} --shell sleep\u00a01000
      : graph kill {later} --wait
      : graph rm {later}
      : limits set licences --running 2
      : limits list
      : limits show licences
      : limits delete licences
      : schedules create nightly --cron 0\u00a03\u00a0*\u00a0*\u00a0* --queue mail command=true
      : schedules list
      : schedules show nightly
      : schedules next nightly
      : schedules pause nightly --note holidays
      : schedules resume nightly
      : schedules run nightly
      : schedules delete nightly
      : archive list tasks
      : access list
      : audit --count 3
      stored: store add map hello
      : store groups
      : store list map --all
      : store get {stored}
      : store update {stored} more
      : store claim map --lease 5m
      : store documents queues --limit 2
      : queues delete mail --force
      """;

  private final List<Exchange> exchanges = Collections.synchronizedList(new ArrayList<>());
  private final HttpClient client = HttpClient.newHttpClient();
  private final URI server;

  private Recorder(URI server) {
    this.server = server;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("recorder");
    Files.writeString(folder.resolve("payload.txt"), "a payload\n");
    String program = Path.of(arguments[0]).toRealPath().toString();
    Process process =
        new ProcessBuilder(program, "up", "--no-node", "--port", "0", "--data", "data")
            .directory(folder.toFile())
            .redirectError(folder.resolve("server.log").toFile())
            .start();
    try {
      Matcher address = Pattern.compile("http://127.0.0.1:\\d+").matcher("");
      // Open for as long as the server may write.
      BufferedReader said = process.inputReader();
      for (String line = ""; line != null && !address.reset(line).find(); ) {
        line = said.readLine();
      }
      List<String> lines = new Recorder(URI.create(address.group())).record(program, folder);
      Files.write(Path.of(arguments[1]), lines);
    } finally {
      process.destroy();
    }
  }

  private List<String> record(String program, Path folder) throws Exception {
    HttpServer proxy =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    proxy.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    proxy.createContext("/", this::pass);
    proxy.start();
    List<String> lines = new ArrayList<>();
    Map<String, String> named = new HashMap<>();
    for (String line : SCRIPT.lines().toList()) {
      String text = line.substring(line.indexOf(':') + 1).strip();
      for (Map.Entry<String, String> each : named.entrySet()) {
        text = text.replace("{" + each.getKey() + "}", each.getValue());
      }
      List<String> words = new ArrayList<>();
      for (String word : text.split(" ", -1)) {
        words.add(word.replace('\u00a0', ' '));
      }
      List<String> command = new ArrayList<>(List.of(program));
      command.addAll(words);
      exchanges.clear();
      ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
      builder.environment().put("MILLRACE_NO_BUILD", "1");
      builder
          .environment()
          .put("MILLRACE_SERVER", "http://127.0.0.1:" + proxy.getAddress().getPort());
      Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
      process.getOutputStream().close();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        System.err.println(words + " exits with " + process.exitValue() + ": " + out);
      }
      Matcher first = Pattern.compile("\\b\\d[\\w-]*").matcher(out);
      if (first.find()) {
        named.put(line.substring(0, line.indexOf(':')), first.group());
      }
      lines.add(Recording.JSON.writeValueAsString(new Command(words, List.copyOf(exchanges))));
    }
    proxy.stop(0);
    return lines;
  }

  /** Sends a request on, and its answer back. */
  private void pass(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    String path = exchange.getRequestURI().toString();
    Map<String, String> headers = new TreeMap<>();
    exchange
        .getRequestHeaders()
        .forEach((name, values) -> {
          String key = name.toLowerCase(Locale.ROOT);
          if (!NOT_KEPT.contains(key)) {
            headers.put(key, values.getFirst());
          }
        });
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(path))
            .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    try {
      HttpResponse<byte[]> answer = client.send(request.build(), BodyHandlers.ofByteArray());
      Map<String, String> answered = new TreeMap<>();
      answer
          .headers()
          .map()
          .forEach((name, values) -> {
            if (!NOT_KEPT.contains(name.toLowerCase(Locale.ROOT))) {
              answered.put(name.toLowerCase(Locale.ROOT), values.getFirst());
            }
          });
      exchanges.add(
          new Exchange(
              exchange.getRequestMethod(),
              path,
              headers,
              new String(body, StandardCharsets.ISO_8859_1),
              answer.statusCode(),
              answered,
              new String(answer.body(), StandardCharsets.UTF_8)));
      answered.forEach(exchange.getResponseHeaders()::add);
      exchange.sendResponseHeaders(
          answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
      exchange.getResponseBody().write(answer.body());
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      exchange.close();
    }
  }
}
