package io.millrace.artifacts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The application of examples/spring-boot, built as its developer does, and killed. */
class SpringSampleTest {
  private static final Path SAMPLE = Path.of("..", "examples", "spring-boot");
  private static final Duration SOON = Duration.ofMinutes(1);
  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

  @TempDir private Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Process> started = new ArrayList<>();
  private String address = "";

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
    http.close();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create(address + path)).build(), BodyHandlers.ofString());
  }

  private int order(String customer, int pieces) throws Exception {
    String body = "{\"customer\": \"" + customer + "\", \"pieces\": " + pieces + "}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + "/orders"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return http.send(request, BodyHandlers.ofString()).statusCode();
  }

  /** Starts the application and waits until it answers. */
  private Path start(OutsideProject project, String classPath, String... options) throws Exception {
    Path log = folder.resolve("log-" + started.size());
    List<String> program =
        Stream.concat(
                Stream.of("com.example.orders.OrdersApplication", "--server.port=0"),
                Stream.of(options))
            .toList();
    started.add(
        project.start(
            project.java(classPath, program.toArray(String[]::new)),
            log,
            folder.resolve("errors-" + started.size())));
    String text = until(() -> Files.readString(log), PORT.asPredicate());
    Matcher port = PORT.matcher(text);
    assertThat(port.find()).isTrue();
    address = "http://localhost:" + port.group(1);
    return log;
  }

  private interface Question {
    String ask() throws Exception;
  }

  /** Asks until the answer is right. */
  private String until(Question question, Predicate<String> isRight) throws Exception {
    long endNanos = System.nanoTime() + SOON.toNanos();
    while (true) {
      String answer = question.ask();
      if (isRight.test(answer)) {
        return answer;
      }
      assertThat(System.nanoTime()).as(answer).isLessThan(endNanos);
      assertThat(started).as(answer).allMatch(each -> each.isAlive() || each.exitValue() == 137);
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }

  private void kill() throws InterruptedException {
    Process last = started.getLast();
    last.destroyForcibly();
    last.waitFor();
  }

  private static long confirmed(Path log, String customer) throws IOException {
    return Files.readAllLines(log).stream()
        .filter(line -> line.contains("of " + customer + " is confirmed"))
        .count();
  }

  @Test
  void a_job_of_an_application_that_is_killed_after_its_commit_runs_once_when_it_is_back()
      throws Exception {
    try (Stream<Path> files = Files.walk(SAMPLE)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path name = SAMPLE.relativize(file);
        if (!name.startsWith("target")) {
          Path copy = folder.resolve(name);
          Files.createDirectories(copy.getParent());
          Files.copy(file, copy);
        }
      }
    }
    OutsideProject project = new OutsideProject(folder);
    String classPath = project.compile();

    // Its servers are not there, so nothing is delivered before it is killed.
    Path log =
        start(
            project,
            classPath,
            "--spring.profiles.active=client",
            "--millrace.server=http://localhost:1,http://localhost:2");
    assertThat(order("Anna", 3)).isEqualTo(201);
    assertThat(order("Bob", 300)).isEqualTo(409);
    assertThat(get("/orders").body()).contains("Anna").doesNotContain("Bob");
    HttpResponse<String> health = get("/actuator/health");
    assertThat(health.statusCode()).isEqualTo(503);
    assertThat(health.body()).contains("\"millrace\"", "http://localhost:1");
    kill();
    assertThat(confirmed(log, "Anna")).isZero();

    log = start(project, classPath, "--millrace.http=0");
    assertThat(order("Cleo", 1)).isEqualTo(201);
    String orders =
        until(() -> get("/orders").body(), body -> !body.contains("\"confirmed\":false"));
    assertThat(orders).contains("Anna", "Cleo").doesNotContain("Bob");
    assertThat(get("/actuator/health").statusCode()).isEqualTo(200);
    until(
        () -> get("/actuator/metrics/millrace.jobs?tag=outcome:done").body(),
        body -> body.contains("\"value\":2.0"));
    kill();

    // Nothing is left that could run again.
    Path again = start(project, classPath, "--millrace.http=0");
    assertThat(order("Dora", 1)).isEqualTo(201);
    until(() -> get("/orders").body(), body -> !body.contains("\"confirmed\":false"));
    assertThat(confirmed(log, "Anna") + confirmed(again, "Anna")).isEqualTo(1);
    assertThat(confirmed(log, "Bob") + confirmed(again, "Bob")).isZero();

    List<String> answers = documentedCalls(project);
    assertThat(answers).hasSize(5);
    assertThat(answers.get(0)).contains("\"customer\":\"Anna\"");
    assertThat(answers.get(1)).contains("\"customer\":\"Dora\"");
    assertThat(answers.get(2)).contains("409");
    assertThat(answers.get(3)).contains("\"UP\"");
    assertThat(answers.get(4)).contains("millrace.jobs");
  }

  /** What the calls of the sample's README answer, in their order. */
  private List<String> documentedCalls(OutsideProject project) throws Exception {
    List<String> answers = new ArrayList<>();
    for (String line : Files.readAllLines(SAMPLE.resolve("README.md"))) {
      if (line.startsWith("    curl ")) {
        String call = line.strip().replace("localhost:8080", address);
        answers.add(project.run(List.of("sh", "-c", "curl -s " + call.substring(5))));
      }
    }
    return answers;
  }

  @Test
  void the_sample_has_the_versions_of_this_build() throws IOException {
    String root = Files.readString(Path.of("..", "pom.xml"));
    String pom = Files.readString(SAMPLE.resolve("pom.xml"));
    Matcher boot = Pattern.compile("<spring-boot.version>[^<]+").matcher(root);
    assertThat(boot.find()).isTrue();
    assertThat(pom)
        .contains(boot.group())
        .contains("<millrace.version>" + OutsideProject.version(root) + "<");
  }
}
