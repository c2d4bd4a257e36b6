package io.millrace.store.testkit.contract;

import org.junit.jupiter.api.Nested;

/**
 * Everything that a store must do. Extend it, supply a factory, and all topics run:
 *
 * <pre>
 *   class MyStoreTest extends TaskStoreContract {
 *     protected StoreFixture newFixture() { return new MyFixture(); }
 *   }
 * </pre>
 */
public abstract class TaskStoreContract {
  /** For subclasses. */
  protected TaskStoreContract() {}

  /** A world with an empty open store; called once for each test. */
  protected abstract StoreFixture newFixture();

  /** Whether clients of several principals can be had; false behind one set of credentials. */
  protected boolean severalPrincipals() {
    return true;
  }

  /** Whether an operator's override can be used. */
  protected boolean overrides() {
    return true;
  }

  @Nested
  class Transactions extends TransactionContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Malformed extends MalformedContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Claims extends ClaimContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Takings extends TakingContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }

    @Override
    protected boolean overrides() {
      return TaskStoreContract.this.overrides();
    }
  }

  @Nested
  class WaitingClaims extends WaitingClaimContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Leases extends LeaseContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Ownership extends OwnershipContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }

    @Override
    protected boolean severalPrincipals() {
      return TaskStoreContract.this.severalPrincipals();
    }

    @Override
    protected boolean overrides() {
      return TaskStoreContract.this.overrides();
    }
  }

  @Nested
  class Origins extends OriginContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Documents extends DocumentContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class RequestIds extends RequestIdContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }

    @Override
    protected boolean severalPrincipals() {
      return TaskStoreContract.this.severalPrincipals();
    }
  }

  @Nested
  class Reads extends ReadContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class Subscriptions extends SubscriptionContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class StatedLimits extends LimitContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }

  @Nested
  class EdgeInputs extends EdgeInputContract {
    @Override
    protected StoreFixture newFixture() {
      return TaskStoreContract.this.newFixture();
    }
  }
}
