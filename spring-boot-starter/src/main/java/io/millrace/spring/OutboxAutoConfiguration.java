package io.millrace.spring;

import io.millrace.client.jobs.JobClient;
import io.millrace.spring.outbox.JobOutbox;
import io.millrace.spring.outbox.OutboxRelay;
import io.millrace.spring.outbox.OutboxTable;
import java.time.InstantSource;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;

/** An outbox in the data source of the application, if {@code millrace.outbox.enabled}. */
@AutoConfiguration(
    after = MillraceAutoConfiguration.class,
    afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({DataSource.class, DataSourceScriptDatabaseInitializer.class})
@ConditionalOnProperty("millrace.outbox.enabled")
@ConditionalOnSingleCandidate(DataSource.class)
public final class OutboxAutoConfiguration {
  private static final String SCRIPTS =
      "classpath:io/millrace/spring/outbox/schema-@@platform@@.sql";

  /** Creates the tables. */
  static final class OutboxTables extends DataSourceScriptDatabaseInitializer {
    OutboxTables(DataSource dataSource, DatabaseInitializationSettings settings) {
      super(dataSource, settings);
    }
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty("millrace.outbox.create-tables")
  static OutboxTables millraceOutboxTables(DataSource dataSource) {
    DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
    settings.setSchemaLocations(
        List.copyOf(
            new PlatformPlaceholderDatabaseDriverResolver()
                .withDriverPlatform(DatabaseDriver.MARIADB, "mysql")
                .resolveAll(dataSource, SCRIPTS)));
    settings.setMode(DatabaseInitializationMode.ALWAYS);
    return new OutboxTables(dataSource, settings);
  }

  @Bean
  @ConditionalOnMissingBean
  @DependsOnDatabaseInitialization
  static OutboxTable millraceOutboxTable(DataSource dataSource) {
    return new OutboxTable(dataSource);
  }

  /** Started and closed by its lifecycle. */
  @Bean(destroyMethod = "")
  @ConditionalOnMissingBean
  static OutboxRelay millraceOutboxRelay(OutboxTable table, JobClient client) {
    return new OutboxRelay(table, client, InstantSource.system());
  }

  @Bean
  @ConditionalOnMissingBean
  static JobOutbox millraceJobOutbox(
      OutboxTable table, OutboxRelay relay, MillraceProperties properties) {
    MillraceProperties.Outbox outbox = properties.outbox();
    JobOutbox.Bounds bounds =
        new JobOutbox.Bounds(outbox.maxRows(), Math.toIntExact(outbox.maxPayload().toBytes()));
    return new JobOutbox(table, relay, bounds, InstantSource.system());
  }

  @Bean
  @ConditionalOnMissingBean
  static RelayLifecycle millraceOutboxLifecycle(OutboxRelay relay) {
    return new RelayLifecycle(relay);
  }

  /** Sends after everything else has started, and until anything else is stopped. */
  static final class RelayLifecycle implements SmartLifecycle {
    private final OutboxRelay relay;
    private volatile boolean running;

    RelayLifecycle(OutboxRelay relay) {
      this.relay = relay;
    }

    @Override
    public void start() {
      relay.start();
      running = true;
    }

    @Override
    public void stop() {
      running = false;
      relay.close();
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return Integer.MAX_VALUE;
    }
  }
}
