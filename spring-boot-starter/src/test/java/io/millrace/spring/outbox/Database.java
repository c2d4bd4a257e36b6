package io.millrace.spring.outbox;

import java.nio.file.Path;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** Databases in files, with the tables of the outbox and one of an application. */
final class Database {
  private Database() {}

  static DataSource h2(Path folder) {
    return created("h2", "jdbc:h2:file:" + folder.resolve("app") + ";DB_CLOSE_DELAY=-1");
  }

  static DataSource sqlite(Path folder) {
    return created("sqlite", "jdbc:sqlite:" + folder.resolve("app.db") + "?busy_timeout=20000");
  }

  private static DataSource created(String platform, String url) {
    DataSource database = new DriverManagerDataSource(url);
    new ResourceDatabasePopulator(
            new ClassPathResource("io/millrace/spring/outbox/schema-" + platform + ".sql"),
            new ClassPathResource("application.sql"))
        .execute(database);
    return database;
  }
}
