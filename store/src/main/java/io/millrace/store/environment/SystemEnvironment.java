package io.millrace.store.environment;

import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The environment of this machine. */
final class SystemEnvironment implements Environment {
  static final SystemEnvironment INSTANCE = new SystemEnvironment();

  private final SecureRandom seeds = new SecureRandom();

  private SystemEnvironment() {}

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public RandomGenerator newRandom() {
    return new SplittableRandom(seeds.nextLong());
  }

  @Override
  public Disk disk() {
    return FileSystemFolder.DISK;
  }

  @Override
  public Driver drive(String name, Activity activity) {
    return ThreadDriver.start(name, activity);
  }
}
