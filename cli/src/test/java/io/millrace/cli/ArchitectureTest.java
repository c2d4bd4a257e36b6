package io.millrace.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.millrace.store.TaskStore;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which module may see which, and that packages know each other in one direction only. */
class ArchitectureTest {
  private static final String ROOT = "io.millrace.";

  /** What each module may see of ours, besides itself. A new module is to be stated here. */
  private static final Map<String, Set<String>> MAY_SEE =
      Map.ofEntries(
          entry("store", Set.of()),
          entry("work", Set.of("store")),
          entry("database", Set.of()),
          entry("s3", Set.of()),
          entry("mongodb", Set.of()),
          entry("journal", Set.of("store", "work", "database", "s3", "mongodb")),
          entry("access", Set.of("store", "work")),
          entry("archive", Set.of("store", "work", "database")),
          entry("blobs", Set.of("store", "s3", "database", "mongodb")),
          entry("processes", Set.of()),
          entry("wire", Set.of("store")),
          entry("http", Set.of("store", "wire")),
          entry("client", Set.of("store", "work", "blobs", "wire")),
          entry("queues", Set.of("store", "work", "archive", "blobs", "processes")),
          entry("mongo", Set.of("store", "work", "blobs", "queues")),
          entry("jobs", Set.of("store", "work", "archive", "blobs")),
          entry("graph", Set.of("store", "work", "archive", "blobs", "processes")),
          entry("schedules", Set.of("store", "work")),
          entry("cluster", Set.of("store", "work")),
          entry(
              "server",
              Set.of(
                  "store",
                  "work",
                  "journal",
                  "access",
                  "archive",
                  "database",
                  "s3",
                  "mongodb",
                  "wire",
                  "http",
                  "blobs",
                  "processes",
                  "queues",
                  "jobs",
                  "graph",
                  "schedules",
                  "cluster")),
          entry(
              "embedded",
              Set.of(
                  "store",
                  "work",
                  "http",
                  "blobs",
                  "client",
                  "queues",
                  "jobs",
                  "graph",
                  "schedules",
                  "server")),
          entry("spring", Set.of("store", "work", "client", "embedded")),
          entry("bench", Set.of("store", "wire", "http", "client", "server")),
          entry("examples", Set.of("store", "client", "cluster")),
          entry(
              "cli",
              Set.of(
                  "store",
                  "work",
                  "blobs",
                  "processes",
                  "wire",
                  "client",
                  "queues",
                  "mongo",
                  "jobs",
                  "cluster",
                  "server",
                  "bench",
                  "examples")));

  private static JavaClasses ours;

  @BeforeAll
  static void read() {
    ours =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.millrace");
  }

  @Test
  void every_module_is_stated() {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : ours) {
      found.add(type.getPackageName().substring(ROOT.length()).split("\\.", -1)[0]);
    }
    assertThat(MAY_SEE.keySet()).containsAll(found);
    assertThat(found).contains("store", "wire", "client", "server", "cli");
  }

  @Test
  void a_module_sees_only_the_modules_that_it_may() {
    MAY_SEE.forEach((module, seen) -> {
      String[] allowed =
          Stream.concat(Stream.of(module), seen.stream())
              .map(name -> ROOT + name + "..")
              .toArray(String[]::new);
      classes()
          .that()
          .resideInAPackage(ROOT + module + "..")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(allowed).or(resideOutsideOfPackage("io.millrace..")))
          .because(module + " may see " + seen + " and nothing else of ours")
          .allowEmptyShould(true)
          .check(ours);
    });
  }

  @Test
  void nobody_outside_the_store_uses_its_kernel() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.millrace.store..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.millrace.store.kernel..")
        .check(ours);
  }

  @Test
  void packages_have_no_cycles_but_that_a_store_opens_its_kernel() {
    for (String module : MAY_SEE.keySet()) {
      slices()
          .matching(ROOT + module + "(**)")
          .should()
          .beFreeOfCycles()
          .ignoreDependency(
              equivalentTo(TaskStore.class), resideInAPackage("io.millrace.store.kernel"))
          .allowEmptyShould(true)
          .check(ours);
    }
  }

  @Test
  void store_and_processes_know_neither_json_nor_http_nor_command_lines() {
    noClasses()
        .that()
        .resideInAnyPackage("io.millrace.store..", "io.millrace.processes..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("tools.jackson..", "picocli..")
        .check(ours);
  }
}
