package io.millrace.spring;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.millrace.spring.outbox.OutboxRelay;
import io.millrace.spring.outbox.OutboxTable.Content;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health and metrics, if Actuator is there. */
@AutoConfiguration(after = {MillraceAutoConfiguration.class, OutboxAutoConfiguration.class})
public final class ActuatorAutoConfiguration {
  /** Health, as the component {@code millrace}. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(HealthIndicator.class)
  static class OfHealth {
    @Bean
    @ConditionalOnMissingBean(name = "millraceHealthIndicator")
    static HealthIndicator millraceHealthIndicator(
        ObjectProvider<JobWorkers.Host> hosts, ObjectProvider<OutboxRelay> relays) {
      return () -> {
        Health.Builder health = Health.up();
        JobWorkers.Host host = hosts.getIfAvailable();
        Optional<String> problem = host == null ? Optional.empty() : host.problem();
        problem.ifPresent(text -> health.down().withDetail("server", text));
        relays.ifAvailable(relay -> describe(relay, health));
        return health.build();
      };
    }

    private static void describe(OutboxRelay relay, Health.Builder health) {
      Content content = relay.content();
      health.withDetail("outboxWaiting", content.waiting());
      health.withDetail("outboxRejected", content.rejected());
      String problem = relay.problem();
      if (problem != null) {
        health.down().withDetail("outbox", problem);
      }
    }
  }

  /** Metrics of the handlers and of the outbox. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class OfMetrics {
    /** Measures each call. The types are those of the methods, so there are few labels. */
    @Bean
    @ConditionalOnMissingBean(name = "millraceJobTimers")
    static JobWorkers.Around millraceJobTimers(ObjectProvider<MeterRegistry> registries) {
      return handler -> {
        MeterRegistry registry = registries.getIfAvailable();
        if (registry == null) {
          return handler;
        }
        Timer done = timer(registry, handler.kind().name(), "done");
        Timer failed = timer(registry, handler.kind().name(), "failed");
        return new JobHandlers.Handler(
            handler.kind(),
            handler.concurrency(),
            (payload, job) -> {
              long beginNanos = System.nanoTime();
              Timer outcome = failed;
              try {
                Object result = handler.work().handle(payload, job);
                outcome = done;
                return result;
              } finally {
                outcome.record(System.nanoTime() - beginNanos, TimeUnit.NANOSECONDS);
              }
            });
      };
    }

    private static Timer timer(MeterRegistry registry, String type, String outcome) {
      return Timer.builder("millrace.jobs")
          .tag("type", type)
          .tag("outcome", outcome)
          .description("calls of methods that work on jobs")
          .register(registry);
    }

    @Bean
    @ConditionalOnBean(type = "io.millrace.spring.outbox.OutboxRelay")
    @ConditionalOnMissingBean(name = "millraceOutboxMetrics")
    static MeterBinder millraceOutboxMetrics(OutboxRelay relay) {
      return registry -> {
        Gauge.builder("millrace.outbox.waiting", relay, each -> each.content().waiting())
            .description("jobs in the outbox that were not sent yet")
            .register(registry);
        Gauge.builder("millrace.outbox.rejected", relay, each -> each.content().rejected())
            .description("jobs in the outbox that the server has rejected")
            .register(registry);
        Gauge.builder("millrace.outbox.age", relay, ActuatorAutoConfiguration::ageSeconds)
            .baseUnit("seconds")
            .description("how long the first job in the outbox has waited")
            .register(registry);
        FunctionCounter.builder("millrace.outbox.sent", relay, OutboxRelay::sent)
            .description("jobs of the outbox that this instance has sent")
            .register(registry);
      };
    }
  }

  private static double ageSeconds(OutboxRelay relay) {
    long oldest = relay.content().oldestMillis();
    return oldest == 0 ? 0 : Math.max(0, System.currentTimeMillis() - oldest) / 1e3;
  }
}
