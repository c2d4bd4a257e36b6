package io.millrace.spring.outbox;

import io.millrace.database.DatabaseAddress.Kind;
import io.millrace.database.DatabaseServer;
import java.nio.file.Path;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** Databases in files and servers, with the tables of the outbox and one of an application. */
final class Database {
  private Database() {}

  static DataSource h2(Path folder) {
    return created("h2", "jdbc:h2:file:" + folder.resolve("app") + ";DB_CLOSE_DELAY=-1");
  }

  static DataSource sqlite(Path folder) {
    return created("sqlite", "jdbc:sqlite:" + folder.resolve("app.db") + "?busy_timeout=20000");
  }

  /** In a real PostgreSQL, in a schema of its own. */
  static DataSource postgresql(Path folder) {
    DriverManagerDataSource server =
        new DriverManagerDataSource(
            DatabaseServer.shared(Kind.POSTGRESQL).address().url(), "test", "");
    new JdbcTemplate(server).execute("CREATE SCHEMA " + name(folder));
    return created(
        "postgresql",
        new DriverManagerDataSource(
            server.getUrl() + "?currentSchema=" + name(folder), "test", ""));
  }

  /** In a database of its own in a real MariaDB. */
  static DataSource mariadb(Path folder) {
    DriverManagerDataSource server =
        new DriverManagerDataSource(
            DatabaseServer.shared(Kind.MARIADB).address().url(), "test", "");
    new JdbcTemplate(server).execute("CREATE DATABASE " + name(folder));
    String url =
        Objects.requireNonNull(server.getUrl()).replace("/test?", "/" + name(folder) + "?");
    return created("mysql", new DriverManagerDataSource(url, "test", ""));
  }

  /** Of a schema: each test has a folder of its own. */
  private static String name(Path folder) {
    return folder.getFileName().toString().replaceAll("[^a-z0-9]", "_");
  }

  private static DataSource created(String platform, String url) {
    return created(platform, new DriverManagerDataSource(url));
  }

  private static DataSource created(String platform, DataSource database) {
    new ResourceDatabasePopulator(
            new ClassPathResource("io/millrace/spring/outbox/schema-" + platform + ".sql"),
            new ClassPathResource("application.sql"))
        .execute(database);
    return database;
  }
}
