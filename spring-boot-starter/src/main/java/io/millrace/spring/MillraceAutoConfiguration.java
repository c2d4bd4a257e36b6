package io.millrace.spring;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.embedded.EmbeddedOptions;
import io.millrace.embedded.Millrace;
import io.millrace.spring.JobHandlers.Handler;
import io.millrace.store.StoreException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.autoconfigure.condition.OnPropertyListCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import tools.jackson.databind.JsonNode;

/**
 * A server in the process of the application, or a client of the one at {@code millrace.server},
 * and workers for all methods with {@link MillraceJob}.
 */
@AutoConfiguration
@EnableConfigurationProperties(MillraceProperties.class)
public final class MillraceAutoConfiguration {
  private static final String EMBEDDED = "io.millrace.embedded.Millrace";

  /** Whether {@code millrace.server} is set, to one address or to a list. */
  static final class ServerElsewhere extends OnPropertyListCondition {
    ServerElsewhere() {
      super("millrace.server", () -> ConditionMessage.forCondition("Millrace server"));
    }
  }

  /** The opposite of {@link ServerElsewhere}. */
  static final class NoServerElsewhere extends NoneNestedConditions {
    NoServerElsewhere() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @Conditional(ServerElsewhere.class)
    static final class Elsewhere {}
  }

  @Bean
  @ConditionalOnMissingBean
  static JobHandlers millraceJobHandlers(ConfigurableListableBeanFactory beans) {
    return JobHandlers.of(beans);
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty(name = "millrace.worker.enabled", matchIfMissing = true)
  static JobWorkers millraceJobWorkers(
      JobHandlers handlers, JobWorkers.Host host, ObjectProvider<JobWorkers.Around> around) {
    return new JobWorkers(handlers, host, around.orderedStream().toList());
  }

  /** A server in this process. Closed after everything that uses it. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = EMBEDDED)
  @Conditional(NoServerElsewhere.class)
  static class Embedded {
    @Bean
    @ConditionalOnMissingBean
    static Millrace millrace(
        MillraceProperties properties, JobHandlers handlers, ObjectProvider<JobKind<?, ?>> kinds) {
      EmbeddedOptions options =
          EmbeddedOptions.in(
              Objects.requireNonNullElse(properties.data(), MillraceProperties.DEFAULT_DATA));
      Integer port = properties.http();
      if (port != null) {
        options = options.withHttp(port);
      }
      for (Handler handler : handlers.all()) {
        options = options.withKind(handler.kind());
      }
      for (JobKind<?, ?> kind : kinds) {
        options = options.withKind(kind);
      }
      for (Map.Entry<String, String> setting : properties.settings().entrySet()) {
        options = options.with(setting.getKey(), setting.getValue());
      }
      return Millrace.start(options);
    }

    /** Not closed by the context: the server is. */
    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean
    static JobClient millraceJobClient(Millrace millrace) {
      return millrace.jobs();
    }

    @Bean
    @ConditionalOnMissingBean
    static JobWorkers.Host millraceJobHost(Millrace millrace, MillraceProperties properties) {
      return new Workers(millrace, properties.worker().grace());
    }

    /**
     * Workers of the server in this process.
     *
     * @param grace how long running jobs have when they are stopped
     */
    private record Workers(Millrace millrace, Duration grace) implements JobWorkers.Host {
      @Override
      public void work(Handler handler) {
        millrace.work(
            handler.kind().name(), handler.concurrency(), handler.kind().handledBy(handler.work()));
      }

      @Override
      public void stop() {
        millrace.stopWorkers(grace);
      }

      @Override
      public Optional<String> problem() {
        return millrace.stopped().isDone()
            ? Optional.of("the store has stopped")
            : Optional.empty();
      }
    }
  }

  /** Says what is missing if there is neither a server in this process nor one elsewhere. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass(EMBEDDED)
  @Conditional(NoServerElsewhere.class)
  static class Nowhere {
    @Bean
    @ConditionalOnMissingBean
    static JobClient millraceJobClient() {
      return Optional.<JobClient>empty().orElseThrow(Nowhere::noServer);
    }

    @Bean
    @ConditionalOnMissingBean
    static JobWorkers.Host millraceJobHost() {
      return Optional.<JobWorkers.Host>empty().orElseThrow(Nowhere::noServer);
    }

    private static IllegalStateException noServer() {
      return new IllegalStateException(
          "set millrace.server to the address of a server, or add millrace-embedded to the class"
              + " path for a server in this process");
    }
  }

  /** A client of a server elsewhere. */
  @Configuration(proxyBeanMethods = false)
  @Conditional(ServerElsewhere.class)
  static class Remote {
    private static final Duration LONGEST_PING = Duration.ofSeconds(2);

    @Bean
    @ConditionalOnMissingBean
    static ClientOptions millraceClientOptions(MillraceProperties properties) {
      if (properties.data() != null || properties.http() != null) {
        throw new IllegalStateException(
            "millrace.data and millrace.http are for a server in this process, and millrace.server"
                + " names another one: leave one of them out");
      }
      return ClientOptions.at(Objects.requireNonNull(properties.server()))
          .withToken(properties.token())
          .withCertificates(properties.certificates());
    }

    @Bean
    @ConditionalOnMissingBean
    static JobClient millraceJobClient(ClientOptions server) {
      return JobClient.open(server);
    }

    @Bean
    @ConditionalOnMissingBean
    static JobWorkers.Host millraceJobHost(
        ClientOptions server,
        JsonCalls calls,
        MillraceProperties properties,
        Environment environment) {
      MillraceProperties.Worker worker = properties.worker();
      String name =
          firstOf(worker.name(), environment.getProperty("spring.application.name"), "spring");
      String id = firstOf(worker.id(), null, name + "@" + host() + ":" + pid());
      return JobWorkers.remote(
          () ->
              JobWorkerOptions.at(server.server(), name)
                  .withServer(server)
                  .withId(id)
                  .withToken(worker.token()),
          worker.grace(),
          () -> ping(calls, server.servers().size()));
    }

    /**
     * Asks the servers, of which each is asked next after the failure of another, whether one is
     * well; why none is, or nothing.
     */
    private static Optional<String> ping(JsonCalls calls, int servers) {
      Optional<String> problem = Optional.empty();
      for (int i = 0; i < servers; i++) {
        try {
          JsonNode _ = calls.get("/health");
          return Optional.empty();
        } catch (StoreException e) {
          problem = Optional.of(String.valueOf(e.getMessage()));
        }
      }
      return problem;
    }

    /** For questions whose answer should be there at once. */
    @Bean
    @ConditionalOnMissingBean
    static JsonCalls millraceHealthCalls(ClientOptions server) {
      return JsonCalls.open(
          server
              .withConnectTimeout(LONGEST_PING)
              .withResponseTimeout(LONGEST_PING)
              .withRetryFor(Duration.ZERO));
    }

    private static String firstOf(
        @Nullable String first, @Nullable String second, String otherwise) {
      String found = first == null || first.isBlank() ? second : first;
      return found == null || found.isBlank() ? otherwise : found;
    }

    private static long pid() {
      return ProcessHandle.current().pid();
    }

    private static String host() {
      try {
        return InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException _) {
        return "localhost";
      }
    }
  }
}
