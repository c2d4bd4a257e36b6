package io.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobContext;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobKind;
import io.millrace.embedded.EmbeddedOptions;
import io.millrace.embedded.Millrace;
import io.millrace.spring.outbox.JobOutbox;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Applications of Spring Boot as their developers write them. */
@Timeout(120)
class StarterTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final JobKind<Letter, String> LETTER =
      JobKind.of("letter", Letter.class, String.class);

  @TempDir private Path folder;

  record Letter(String to) {}

  static class Press {
    final CompletableFuture<String> printed = new CompletableFuture<>();

    @MillraceJob(value = "letter", concurrency = 2)
    String print(Letter letter, JobContext job) throws JobFailedException {
      if (letter.to().isEmpty()) {
        throw new JobFailedException("nobody to print for", null);
      }
      job.progress(50);
      printed.complete(letter.to());
      return "printed for " + letter.to();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {
    @Bean
    Press press() {
      return new Press();
    }
  }

  private ConfigurableApplicationContext start(String... properties) {
    List<String> all = new ArrayList<>(List.of("--server.port=0", "--spring.main.banner-mode=off"));
    for (String property : properties) {
      all.add("--" + property);
    }
    return SpringApplication.run(Application.class, all.toArray(String[]::new));
  }

  private static JsonNode get(ConfigurableApplicationContext application, String path)
      throws Exception {
    String port = application.getEnvironment().getProperty("local.server.port");
    try (HttpClient http = HttpClient.newHttpClient()) {
      URI address = URI.create("http://localhost:" + port + path);
      String body =
          http.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString()).body();
      return new JsonMapper().readTree(body);
    }
  }

  @Test
  void an_application_submits_in_its_transaction_and_works_on_the_job() throws Exception {
    try (ConfigurableApplicationContext application =
        start(
            "millrace.data=" + folder.resolve("millrace"),
            "millrace.outbox.enabled=true",
            "millrace.outbox.create-tables=true",
            "spring.datasource.url=jdbc:h2:mem:starter;DB_CLOSE_DELAY=-1",
            "management.endpoint.health.show-details=always")) {
      JobOutbox outbox = application.getBean(JobOutbox.class);
      TransactionTemplate transactions =
          new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
      transactions.executeWithoutResult(status -> {
        outbox.submit(LETTER, new Letter("nobody"));
        status.setRollbackOnly();
      });
      transactions.executeWithoutResult(_ -> outbox.submit(LETTER, new Letter("Anna")));
      assertThat(application.getBean(Press.class).printed.get(30, TimeUnit.SECONDS))
          .isEqualTo("Anna");

      JsonNode health = get(application, "/actuator/health");
      assertThat(health.path("status").asString()).as(health.toString()).isEqualTo("UP");
      assertThat(health.path("components").path("millrace").path("status").asString())
          .as(health.toString())
          .isEqualTo("UP");
      MeterRegistry registry = application.getBean(MeterRegistry.class);
      assertThat(registry.get("millrace.outbox.sent").functionCounter().count()).isEqualTo(1);
      assertThat(registry.get("millrace.outbox.rejected").gauge().value()).isZero();
      assertThat(registry.get("millrace.outbox.waiting").gauge()).isNotNull();
      assertThat(registry.get("millrace.outbox.age").gauge()).isNotNull();
      assertThat(registry.get("millrace.jobs").tags("type", "letter", "outcome", "done").timer())
          .satisfies(timer -> assertThat(timer.count()).isEqualTo(1));
      assertThat(registry.get("millrace.jobs").tag("outcome", "failed").timer().count()).isZero();
      assertThat(
              application
                  .getBean(JdbcTemplate.class)
                  .queryForObject("SELECT COUNT(*) FROM millrace_outbox", Integer.class))
          .isLessThanOrEqualTo(1);
    }
  }

  @Test
  void an_application_is_a_client_and_worker_of_a_server_elsewhere() throws Exception {
    Millrace server = Millrace.start(EmbeddedOptions.in(folder).withKind(LETTER).withHttp(0));
    try (ConfigurableApplicationContext application =
        start(
            "millrace.server=" + server.address().orElseThrow(),
            "spring.datasource.url=jdbc:h2:mem:remote")) {
      JobClient client = application.getBean(JobClient.class);
      assertThat(client.call(LETTER, new Letter("Bob"), SOON)).isEqualTo("printed for Bob");
      assertThat(application.getBeansOfType(Millrace.class)).isEmpty();
      assertThat(application.getBeansOfType(JobOutbox.class)).isEmpty();
      assertThat(get(application, "/actuator/health").path("status").asString()).isEqualTo("UP");
      server.close();
      assertThat(get(application, "/actuator/health").path("status").asString()).isEqualTo("DOWN");
    } finally {
      server.close();
    }
  }

  private ApplicationContextRunner runner() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                MillraceAutoConfiguration.class,
                OutboxAutoConfiguration.class,
                ActuatorAutoConfiguration.class))
        .withPropertyValues("millrace.data=" + folder);
  }

  static class TwoPayloads {
    @MillraceJob("wrong")
    void takesTwo(Letter one, Letter two) {}
  }

  static class WrongName {
    @MillraceJob("not a name")
    void badlyNamed(Letter letter) {}
  }

  static class NoPayload {
    @MillraceJob("wrong")
    void takesContext(JobContext job) {}
  }

  static class Hidden {
    @MillraceJob("wrong")
    static void hidden(Letter letter) {}
  }

  static class Again {
    @MillraceJob("letter")
    void printAgain(Letter letter) {}
  }

  static class Greedy {
    @MillraceJob(value = "wrong", concurrency = 0)
    void none(Letter letter) {}
  }

  private void fails(Class<?> bean, String... parts) {
    runner()
        .withBean(Press.class)
        .withBean(bean)
        .run(context ->
            assertThat(context.getStartupFailure())
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(parts));
  }

  @Test
  void a_method_that_cannot_work_on_jobs_stops_the_start_with_its_name() {
    fails(TwoPayloads.class, "TwoPayloads.takesTwo", "the payload");
    fails(WrongName.class, "WrongName.badlyNamed", "1 to 64 characters");
    fails(NoPayload.class, "NoPayload.takesContext", "the payload");
    fails(Hidden.class, "Hidden.hidden", "private");
    fails(Again.class, "printAgain", "Press.print", "\"letter\"");
    fails(Greedy.class, "Greedy.none", "1 to 1,000");
  }

  @Test
  void beans_of_the_application_come_first_and_actuator_may_be_absent() {
    JobClient own = JobClient.open(ClientOptions.at(URI.create("http://a:1")));
    runner()
        .withBean("own", JobClient.class, () -> own, bean -> bean.setPrimary(false))
        .run(context -> assertThat(context).getBean(JobClient.class).isSameAs(own));
    runner()
        .withClassLoader(
            new FilteredClassLoader("org.springframework.boot.health", "io.micrometer"))
        .run(context ->
            assertThat(context).hasNotFailed().doesNotHaveBean("millraceHealthIndicator"));
  }

  @Test
  void a_client_needs_no_server_on_its_class_path() {
    ApplicationContextRunner client =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    MillraceAutoConfiguration.class,
                    OutboxAutoConfiguration.class,
                    ActuatorAutoConfiguration.class))
            .withBean(Press.class)
            .withClassLoader(new FilteredClassLoader("io.millrace.embedded", "io.millrace.server"));
    client
        .withPropertyValues("millrace.server=http://localhost:1", "millrace.worker.enabled=false")
        .run(context -> {
          assertThat(context).hasNotFailed().hasSingleBean(JobClient.class);
          assertThat(
                  Objects.requireNonNull(context.getBean(HealthIndicator.class).health())
                      .getDetails())
              .extractingByKey("server")
              .asString()
              .contains("http://localhost:1");
        });
    client.run(context ->
        assertThat(context.getStartupFailure())
            .rootCause()
            .hasMessageContainingAll("millrace.server", "millrace-embedded"));
  }

  @Test
  void a_client_of_several_servers_goes_on_with_those_that_are_left() {
    try (Millrace server =
        Millrace.start(EmbeddedOptions.in(folder).withKind(LETTER).withHttp(0))) {
      URI address = server.address().orElseThrow();
      goesOn("millrace.server=http://localhost:1,http://localhost:2/prefix," + address);
      goesOn("millrace.server[0]=http://localhost:1", "millrace.server[1]=" + address);
    }
  }

  private static void goesOn(String... servers) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                MillraceAutoConfiguration.class,
                OutboxAutoConfiguration.class,
                ActuatorAutoConfiguration.class))
        .withBean(Press.class)
        .withPropertyValues(servers)
        .run(context -> {
          assertThat(context).doesNotHaveBean(Millrace.class);
          assertThat(context.getBean(JobClient.class).call(LETTER, new Letter("Cleo"), SOON))
              .isEqualTo("printed for Cleo");
          assertThat(
                  Objects.requireNonNull(context.getBean(HealthIndicator.class).health())
                      .getStatus())
              .isEqualTo(Status.UP);
        });
  }

  @Test
  void a_server_elsewhere_and_one_in_this_process_exclude_each_other() {
    runner()
        .withPropertyValues("millrace.server=http://localhost:1")
        .run(context ->
            assertThat(context.getStartupFailure())
                .rootCause()
                .hasMessageContaining("millrace.data")
                .hasMessageContaining("millrace.server"));
    assertThatThrownBy(() -> start("millrace.server=nonsense"))
        .rootCause()
        .hasMessageContaining("http://host:8048");
  }

  @Test
  void the_properties_have_metadata_for_editors() throws Exception {
    try (var stream =
        Objects.requireNonNull(
            MillraceProperties.class.getResourceAsStream(
                "/META-INF/spring-configuration-metadata.json"))) {
      JsonNode metadata =
          new JsonMapper().readTree(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
      String guide = Files.readString(Path.of("../docs/spring.md"));
      List<String> names = new ArrayList<>();
      for (JsonNode property : metadata.path("properties")) {
        String name = property.path("name").asString();
        names.add(name);
        assertThat(property.path("description").asString("")).as(name).isNotEmpty();
        assertThat(guide).contains("`" + name + "`");
      }
      assertThat(names).contains("millrace.server", "millrace.data", "millrace.outbox.max-rows");
    }
  }
}
