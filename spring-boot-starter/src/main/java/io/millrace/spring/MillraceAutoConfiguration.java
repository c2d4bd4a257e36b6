package io.millrace.spring;

import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.embedded.EmbeddedOptions;
import io.millrace.embedded.Millrace;
import io.millrace.spring.JobHandlers.Handler;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * A server in the process of the application, or a client of the one at {@code millrace.server},
 * and workers for all methods with {@link MillraceJob}.
 */
@AutoConfiguration
@EnableConfigurationProperties(MillraceProperties.class)
public final class MillraceAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  static JobHandlers millraceJobHandlers(ConfigurableListableBeanFactory beans) {
    return JobHandlers.of(beans);
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty(name = "millrace.worker.enabled", matchIfMissing = true)
  static JobWorkers millraceJobWorkers(JobHandlers handlers, JobWorkers.Host host) {
    return new JobWorkers(handlers, host);
  }

  /** A server in this process. Closed after everything that uses it. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = "millrace.server", matchIfMissing = true, havingValue = "none")
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
      return JobWorkers.local(millrace, properties.worker().grace());
    }
  }

  /** A client of a server elsewhere. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty("millrace.server")
  static class Remote {
    @Bean
    @ConditionalOnMissingBean
    static ClientOptions millraceClientOptions(MillraceProperties properties) {
      if (properties.data() != null || properties.http() != null) {
        throw new IllegalStateException(
            "millrace.data and millrace.http are for a server in this process, and millrace.server"
                + " names another one: leave one of them out");
      }
      URI server = Objects.requireNonNull(properties.server());
      return ClientOptions.at(server)
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
        ClientOptions server, MillraceProperties properties, Environment environment) {
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
          worker.grace());
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
